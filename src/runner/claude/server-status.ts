import { inertLine } from "../../lib/inert.ts";
import { type Message, text } from "../message.ts";

export type ServerStatus = {
  /** What the CLI says when a turn begins. */
  begin(servers: readonly Message[]): void;
  /** The agent got on: a server that was still starting should be there by now. */
  gotOn(): void;
  /** The answer to `ask`. */
  answer(servers: readonly Message[]): void;
};

/** Tells once of each MCP server that did not come up; the CLI goes on without it and says no word. */
export function serverStatus(deps: { warn(message: string): void; ask(): void }): ServerStatus {
  const told = new Set<string>();
  let pending = false;

  const tell = (servers: readonly Message[], isUp: (state: string) => boolean): void => {
    for (const { name, status } of servers) {
      if (isUp(text(status)) || told.has(text(name))) continue;
      told.add(text(name));
      const what = status === "pending" ? "has not answered yet; the agent began without it" : `did not start (${text(status)}); the agent goes on without it`;
      deps.warn(inertLine(`the MCP server ${text(name)} ${what}`, 500));
    }
  };

  return {
    begin(servers) {
      tell(servers, (state) => state === "connected" || state === "pending");
      pending ||= servers.some(({ name, status }) => status === "pending" && !told.has(text(name)));
    },
    gotOn() {
      if (pending) deps.ask();
      pending = false;
    },
    answer: (servers) => tell(servers, (state) => state === "connected"),
  };
}
