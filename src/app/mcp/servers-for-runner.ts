import type { Permission } from "../../contract/permission.ts";
import type { RunBind } from "../../contract/runner.ts";
import type { McpServer } from "../../contract/settings.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { inertLine } from "../../lib/inert.ts";
import type { PrivateSocket } from "../../sandbox/private-socket.ts";
import { type BridgeDeps, bridgeServer } from "../../tools/mcp/bridge-server.ts";
import { serverProgram } from "../../tools/mcp/server-program.ts";
import { refusal, rightsOf } from "../../tools/mcp/server-rights.ts";
import { relayEntry } from "./relay-entry.ts";
import { servePrivately } from "./serve-privately.ts";
import { OWN_SERVER } from "./tools-for-runner.ts";

export type RunnerServersInput = {
  servers: Readonly<Record<string, McpServer>>;
  permissions: readonly Permission[];
  /** Real path of the agent's folder. */
  workspace: string;
  home: string;
  path: string | undefined;
  mode: Settings["sandbox"]["mode"];
  warn(message: string): void;
};

/** For a `RunRequest`, its `mcpServers` and `binds`; `close` when the run is over. */
export type RunnerServers = { mcpServers: Record<string, McpServer>; binds: RunBind[]; close(): Promise<void> };

/**
 * Gives an agent outside of this process its servers. One that needs nothing but its program is started by the agent, in its sandbox, and shares
 * its loopback. One with an environment, hosts or an address stays out here: what it holds must not be within the agent's reach.
 */
export async function serversForRunner(input: RunnerServersInput): Promise<RunnerServers> {
  const { mode, workspace } = input;
  const mcpServers: Record<string, McpServer> = Object.create(null) as Record<string, McpServer>;
  const binds: RunBind[] = [];
  const sockets: PrivateSocket[] = [];
  for (const [given, server] of Object.entries(input.servers)) {
    const name = safeName(given);
    const permissions = [...rightsOf(server)];
    const why = name === OWN_SERVER || name in mcpServers ? `the agent already has a server named ${name}` : refusal(server, permissions, input);
    const entry = why === undefined ? await entryOf(name, server) : { why };
    if ("why" in entry) input.warn(inertLine(`the MCP server ${given} is left out: ${entry.why}`, 1500));
    else {
      mcpServers[name] = { ...entry.server, permissions };
      binds.push(...entry.binds);
    }
  }
  return {
    mcpServers,
    binds,
    close: async () => void (await Promise.all(sockets.map((socket) => socket.close()))),
  };

  async function entryOf(name: string, server: McpServer): Promise<{ server: McpServer; binds: RunBind[] } | { why: string }> {
    const deps: BridgeDeps = { workspace, home: input.home, path: input.path, mode };
    if (server.url === undefined) {
      const found = serverProgram({ command: server.command ?? "", ...(server.args === undefined ? {} : { args: server.args }) }, deps);
      if (!found.ok) return { why: found.why };
      const [command = "", ...args] = found.command;
      if (Object.keys(server.env ?? {}).length === 0 && (server.hosts ?? []).length === 0) return { server: { command, args }, binds: found.shown.map((from) => ({ from })) };
    }
    const socket = await servePrivately((near) =>
      bridgeServer(server, near, deps).catch((error: unknown) => input.warn(inertLine(`the MCP server ${name} could not be used: ${(error as Error).message}`, 1500))));
    sockets.push(socket);
    return relayEntry(socket.socket, `/run/crucible/mcp-${sockets.length}.sock`, { mode, workspace });
  }
}

/** Tools are called `mcp__NAME__TOOL`: a name must not contain what separates them, or one server's rights could be taken for another's. */
function safeName(name: string): string {
  return name.slice(0, 40).replace(/[^A-Za-z0-9-]+/g, "_").replace(/_+/g, "_").replace(/^_|_$/g, "") || "server";
}
