import { CruError } from "../../contract/error.ts";
import type { Permission } from "../../contract/permission.ts";
import type { Ask } from "../../contract/runner.ts";
import type { McpServer } from "../../contract/settings.ts";
import type { AnyTool } from "../../contract/tool.ts";
import { inertLine } from "../../lib/inert.ts";
import { loadSdk } from "./load-sdk.ts";
import { MCP_LIMITS, type McpLimits } from "./limits.ts";
import { type OpenServer, openServer, type ServerDeps } from "./open-server.ts";
import { readListing, type RemoteListing, type RemoteSetup, remoteTool } from "./remote-tool.ts";
import { refusal, rightsOf } from "./server-rights.ts";
import { toolName } from "./tool-name.ts";

export type McpDeps = Pick<ServerDeps, "workspace" | "home" | "mode" | "marker" | "asideFolder" | "signal"> & {
  /** How questions of a server reach a person, for `tools`. */
  ask?: Ask;
  /** Rights of the agent; a server that needs more is not even started. All by default. */
  permissions?: readonly Permission[];
  path?: string;
  limits?: Partial<McpLimits>;
};

export type McpTools = {
  tools: AnyTool[];
  /** The same tools for another agent of the session, whose questions are then its own. The servers are shared. */
  toolsFor(ask: Ask): AnyTool[];
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
  if (entries.length === 0) return { tools: [], toolsFor: () => [], warnings: [], close: async () => {} };
  const serverDeps: ServerDeps = {
    ...deps,
    sdk: await loadSdk(),
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
  const usable = usableTools(open);
  const toolsFor = (ask: Ask | undefined): AnyTool[] => usable.map(({ listing, setup, server }) => remoteTool(listing, setup, server, ask));
  return { tools: toolsFor(deps.ask), toolsFor, warnings, close };

  async function tryOpen(name: string, server: McpServer): Promise<Opened | undefined> {
    const needs = rightsOf(server);
    const why = refusal(server, needs, deps);
    if (why !== undefined) return leaveOut(name, why);
    try {
      const opened = { name, needs, asks: reasonToAsk(server, deps), server: await openServer(name, server, serverDeps) };
      if (server.url === undefined && server.permissions === undefined && deps.mode === "required") {
        warn(`the MCP server ${name} names no permissions: it needs all of them${(server.hosts ?? []).length === 0 ? ", and runs without network" : ""}`);
      }
      return opened;
    } catch (error) {
      if (!(error instanceof CruError)) throw error;
      return leaveOut(name, error.hint === undefined ? error.message : `${error.message} (${error.hint})`);
    }
  }

  function usableTools(found: readonly Opened[]): Usable[] {
    const usable = new Map<string, Usable>();
    for (const { name, needs, asks, server } of found) {
      const seen = new Set<string>();
      if (server.isCut) warn(`the MCP server ${name} has more tools than ${serverDeps.limits.toolsPerServer}; the others are left out`);
      for (const raw of server.tools) {
        const read = readListing(raw);
        if (!read.ok) warn(`the MCP server ${name}: ${read.fault}`);
        else if (seen.has(read.listing.name)) warn(`the MCP server ${name}: a second tool named ${read.listing.name} is left out`);
        else {
          seen.add(read.listing.name);
          const setup = { name: toolName(name, read.listing.name, usable), server: inertLine(name, 80), needs, asks, outputBytes: serverDeps.limits.outputBytes };
          usable.set(setup.name, { listing: read.listing, setup, server });
        }
      }
    }
    return [...usable.values()];
  }

  function leaveOut(name: string, why: string): undefined {
    warn(`the MCP server ${name} is left out: ${why}`);
  }

  function warn(text: string): void {
    warnings.push(inertLine(text, 1500));
  }
}

type Opened = Pick<RemoteSetup, "needs" | "asks"> & { name: string; server: OpenServer };
type Usable = { listing: RemoteListing; setup: RemoteSetup; server: OpenServer };

/** Inside a sandbox, ours or one that the user vouches for, its rights decide. */
function reasonToAsk(server: McpServer, deps: McpDeps): string | undefined {
  if (server.url !== undefined) return "it goes over the network";
  return deps.mode === "off" ? "there is no sandbox: the server runs with your rights" : undefined;
}
