import type { AnyTool } from "../contract/tool.ts";
import { isProtected } from "../lib/protected-path.ts";
import { irreversibleInCommand, protectedByCommand } from "./command-traits.ts";

export type Gate = {
  ask: boolean;
  /** False needs a word of confirmation and is never approved by a policy or a deadline. */
  reversible: boolean;
  reason: string;
};

export type Place = {
  workspace: string;
  sandboxed: boolean;
  /** What commands do to `.git` is done to a copy, whose commits are checked before they are taken over. */
  ownGit?: boolean;
};

const FREE: Gate = { ask: false, reversible: true, reason: "" };

/**
 * Whether a call asks a person before it runs, by the defaults that hold for every agent. `requires_approval` and
 * `permissions.allow` come on top of it, where the answer is used; a protected path or an irreversible call asks whatever they say.
 */
export function gateOf(tool: Pick<AnyTool, "name" | "needs" | "asks">, input: unknown, place: Place): Gate {
  const text = (key: string): string => {
    const value = (input as Record<string, unknown> | null)?.[key];
    return typeof value === "string" ? value : "";
  };
  switch (tool.name) {
    case "write_file":
    case "edit_file":
      return isProtected(place.workspace, text("path")) ? { ask: true, reversible: true, reason: `${text("path")} is a protected path` } : FREE;
    case "run_command":
      return commandGate(text("command"), input, place);
    case "database_execute":
      return { ask: true, reversible: false, reason: `it changes the database ${text("path")}` };
    case "fetch_url":
      return { ask: true, reversible: true, reason: `it reads ${text("url")} from the network` };
    default:
      return tool.asks === undefined ? byRights(tool) : { ask: true, ...tool.asks };
  }
}

function commandGate(command: string, input: unknown, { sandboxed, ownGit }: Place): Gate {
  const irreversible = irreversibleInCommand(command);
  if (!sandboxed) return { ask: true, reversible: false, reason: irreversible ?? "there is no sandbox: the command runs with your rights" };
  if (irreversible !== undefined) return { ask: true, reversible: false, reason: irreversible };
  const named = (input as { writes?: unknown } | null)?.writes;
  const writes = protectedByCommand({ command, writes: Array.isArray(named) ? named.map(String) : [] }).filter((name) => name !== ".git" || ownGit !== true);
  return writes.length === 0 ? FREE : { ask: true, reversible: true, reason: `the command may change ${writes.join(", ")}` };
}

/** Tools that we do not know (MCP servers) and that say nothing themselves are judged by the rights that they were given. */
function byRights(tool: Pick<AnyTool, "needs">): Gate {
  if (tool.needs.includes("DatabaseWrite")) return { ask: true, reversible: false, reason: "it may change a database" };
  if (tool.needs.includes("NetworkAccess")) return { ask: true, reversible: false, reason: "it may write to the network" };
  if (tool.needs.includes("Shell")) return { ask: true, reversible: false, reason: "it may run programs outside the sandbox" };
  return FREE;
}
