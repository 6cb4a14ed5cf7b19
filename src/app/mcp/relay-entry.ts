import { join, sep } from "node:path";
import { packageRoot } from "../../config/paths.ts";
import type { RunBind } from "../../contract/runner.ts";
import type { McpServer } from "../../contract/settings.ts";
import type { Settings } from "../../contract/settings-defaults.ts";

/** Names the socket for `cru mcp` of an agent; without it, the one of our own tools. */
export const SOCKET_VARIABLE = "CRUCIBLE_MCP";
export const INSIDE_SOCKET = "/run/crucible/mcp.sock";

export type RelayEntry = { server: McpServer; binds: RunBind[] };

/**
 * How an agent reaches a socket of ours: `cru mcp` inside its sandbox passes the messages on, and does nothing else. Node's own folder is
 * part of every sandbox; of the package only what runs is shown.
 */
export function relayEntry(socket: string, inside: string, options: { mode: Settings["sandbox"]["mode"]; workspace: string }): RelayEntry {
  const root = packageRoot();
  const parts = ["dist", "builtin"].map((name) => join(root, name)).filter((path) => !path.startsWith(options.workspace + sep));
  const held = options.mode === "required";
  return {
    server: { command: process.execPath, args: [join(root, "dist", "main.js"), "mcp"], env: { [SOCKET_VARIABLE]: held ? inside : socket }, permissions: [] },
    binds: held ? [{ from: socket, to: inside }, ...parts.map((from) => ({ from }))] : [],
  };
}
