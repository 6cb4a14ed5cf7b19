import { CruError } from "../../contract/error.ts";
import { type Permission, PERMISSIONS } from "../../contract/permission.ts";
import type { McpServer } from "../../contract/settings.ts";
import type { AnyTool } from "../../contract/tool.ts";
import { inertLine } from "../../lib/inert.ts";
import { MCP_LIMITS, type McpLimits } from "./limits.ts";
import { type OpenServer, openServer, type ServerDeps } from "./open-server.ts";
import { readListing, remoteTool } from "./remote-tool.ts";
import { toolName } from "./tool-name.ts";

export type McpDeps = Pick<ServerDeps, "workspace" | "home" | "mode" | "marker" | "ask" | "signal"> & {
  /** Rights of the agent; a server that needs more is not even started. All by default. */
  permissions?: readonly Permission[];
  path?: string;
  limits?: Partial<McpLimits>;
};

export type McpTools = {
  tools: AnyTool[];
  /** Servers and tools that were left out, and why; safe to show. */
  warnings: string[];
  /** Ends every server with everything it started. */
  close(): Promise<void>;
};

/**
 * The tools of the configured servers. A server that cannot be used is a warning, never an error. The settings must be
 * trusted ones: they name programs to run. Without servers nothing is loaded.
 */
export async function connectMcpServers(servers: Readonly<Record<string, McpServer>>, deps: McpDeps): Promise<McpTools> {
  const entries = Object.entries(servers);
  if (entries.length === 0) return { tools: [], warnings: [], close: async () => {} };
  const serverDeps: ServerDeps = {
    ...deps,
    sdk: await import("@modelcontextprotocol/client"),
    path: deps.path ?? process.env.PATH,
    limits: { ...MCP_LIMITS, ...deps.limits },
  };
  const warnings: string[] = [];
  const opened = await Promise.all(entries.map(([name, server]) => tryOpen(name, server)));
  const open = opened.filter((one) => one !== undefined);
  let closing: Promise<unknown> | undefined;
  const close = async (): Promise<void> => {
    deps.signal?.removeEventListener("abort", close);
    await (closing ??= Promise.all(open.map((one) => one.server.close())));
  };
  deps.signal?.addEventListener("abort", close, { once: true });
  if (deps.signal?.aborted === true) await close();
  return { tools: toolsOf(open), warnings, close };

  async function tryOpen(name: string, server: McpServer): Promise<Opened | undefined> {
    const needs = rightsOf(server);
    const why = refusal(server, needs, deps);
    if (why !== undefined) return leaveOut(name, why);
    try {
      const opened = { name, needs, isRemote: server.url !== undefined, server: await openServer(name, server, serverDeps) };
      if (server.url === undefined && server.permissions === undefined && deps.mode === "required") {
        warn(`the MCP server ${name} names no permissions: it needs all of them, and runs without network`);
      }
      return opened;
    } catch (error) {
      if (!(error instanceof CruError)) throw error;
      return leaveOut(name, error.hint === undefined ? error.message : `${error.message} (${error.hint})`);
    }
  }

  function toolsOf(found: readonly Opened[]): AnyTool[] {
    const tools = new Map<string, AnyTool>();
    for (const { name, needs, isRemote, server } of found) {
      const seen = new Set<string>();
      if (server.isCut) warn(`the MCP server ${name} has more tools than ${serverDeps.limits.toolsPerServer}; the others are left out`);
      for (const raw of server.tools) {
        const listing = readListing(raw);
        if (listing === undefined || seen.has(listing.name)) {
          warn(`the MCP server ${name}: ${listing === undefined ? "something in its list is no tool" : `a second tool named ${listing.name} is left out`}`);
          continue;
        }
        seen.add(listing.name);
        const reversible = !isRemote && deps.mode === "required" && !needs.includes("DatabaseWrite");
        const setup = { name: toolName(name, listing.name, new Set(tools.keys())), server: inertLine(name, 80), needs, reversible, outputBytes: serverDeps.limits.outputBytes };
        const made = remoteTool(listing, setup, server);
        if (made.ok) tools.set(setup.name, made.tool);
        else warn(`the MCP server ${name}: its tool ${listing.name} is left out: ${made.fault}`);
      }
    }
    return [...tools.values()];
  }

  function leaveOut(name: string, why: string): undefined {
    warn(`the MCP server ${name} is left out: ${why}`);
  }

  function warn(text: string): void {
    warnings.push(inertLine(text, 1500));
  }
}

type Opened = { name: string; needs: readonly Permission[]; isRemote: boolean; server: OpenServer };

function rightsOf(server: McpServer): readonly Permission[] {
  const named = new Set<Permission>(server.permissions ?? PERMISSIONS);
  if (server.url !== undefined) named.add("NetworkAccess");
  return PERMISSIONS.filter((permission) => named.has(permission));
}

function refusal(server: McpServer, needs: readonly Permission[], deps: McpDeps): string | undefined {
  if ((server.command === undefined) === (server.url === undefined)) return "it must have either a command or a url";
  const lacking = needs.filter((permission) => deps.permissions !== undefined && !deps.permissions.includes(permission));
  if (lacking.length > 0) return `the agent lacks ${lacking.join(", ")}`;
  if (server.url === undefined && deps.mode === "required" && server.permissions?.includes("NetworkAccess") === true) {
    return "its permissions include NetworkAccess, and the sandbox has no network; take it out, use a url, or vouch for this machine with sandbox: external";
  }
  return undefined;
}
