import type { RunDeps, RunBind } from "../../contract/runner.ts";
import type { McpServer } from "../../contract/settings.ts";
import { INSIDE_SOCKET, relayEntry } from "./relay-entry.ts";
import { servePrivately } from "./serve-privately.ts";
import { type DoorInput, openToolDoor } from "./tool-door.ts";
import { serveTools } from "./tool-server.ts";

/** The name under which an agent has our own tools; no other server gets it. */
export const OWN_SERVER = "crucible";

/** What an agent with tools of its own lacks. Files and commands it has, in its own sandbox. */
const OFFERED = new Set(["spawn_agent", "get_agent", "semantic_search", "read_note", "list_notes", "ask_user", "request_approval"]);

/** For a `RunRequest` its server and binds, for the `RunDeps` the hook; `close` when the run is over. */
export type RunnerTools = { mcpServers: Record<string, McpServer>; binds: RunBind[]; onRunning: NonNullable<RunDeps["onRunning"]>; close(): Promise<void> };

/**
 * Serves our tools to one agent outside of this process: `cru mcp` in its sandbox passes the messages on, and here they are met by its rights,
 * its depth and its record. Whoever else inside finds the socket is that agent too.
 */
export async function toolsForRunner(input: DoorInput): Promise<RunnerTools> {
  const door = openToolDoor(input);
  let paused: <T>(work: () => Promise<T>) => Promise<T> = (work) => work();
  const source = {
    tools: async () => (await door.tools()).filter((tool) => OFFERED.has(tool.name)),
    call: (_: string, call: Parameters<typeof door.call>[0]) =>
      // While its child works or a person is asked, the agent itself is not idle.
      OFFERED.has(call.tool) ? paused(() => door.call(call)) : Promise.resolve({ ok: false, output: `there is no tool "${call.tool}"` }),
  };
  const socket = await servePrivately((connection) => serveTools(source, { input: connection, output: connection }, input.warn));
  const { server, binds } = relayEntry(socket.socket, INSIDE_SOCKET, { mode: input.project.settings.sandbox.mode, workspace: input.workspace });
  return {
    mcpServers: { [OWN_SERVER]: server },
    binds,
    onRunning: (clocks) => (paused = clocks.paused),
    async close() {
      await door.close();
      await socket.close();
    },
  };
}
