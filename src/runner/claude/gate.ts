import { relative } from "node:path";
import type { Permission } from "../../contract/permission.ts";
import type { McpServer } from "../../contract/settings.ts";
import { isProtected } from "../../lib/protected-path.ts";
import { PERMISSIONS } from "../../contract/permission.ts";
import { isListed, mayUse, SPAWN_TOOLS, TOOL_RIGHTS } from "./tool-rights.ts";

export type GatePolicy = {
  permissions: readonly Permission[];
  requiresApproval: readonly string[];
  /** Rights that need not ask, by the user's settings. */
  allow: readonly Permission[];
  sandboxed: boolean;
  workspace: string;
  depth: number;
  mcpServers: Readonly<Record<string, McpServer>>;
};

export type ToolCall = { tool: string; input: Record<string, unknown>; bySubagent: boolean };
export type Verdict = { kind: "allow" } | { kind: "deny"; reason: string } | { kind: "ask"; reason: string; reversible: boolean };

const ALLOW: Verdict = { kind: "allow" };

/**
 * What may run without asking, what never runs, and what a person decides: the same gates as for agents of this process. `allowedAll`
 * holds the tools that a person has allowed this agent for the rest of its session.
 */
export function judge(call: ToolCall, policy: GatePolicy, allowedAll: ReadonlySet<string>): Verdict {
  const rights = rightsOf(call.tool, policy);
  const missing = rights?.find((right) => !policy.permissions.includes(right));
  if (missing !== undefined) return { kind: "deny", reason: `this agent does not have the right ${missing}` };
  if (SPAWN_TOOLS.includes(call.tool) && (call.bySubagent || !mayUse(call.tool, policy))) return { kind: "deny", reason: "Maximum agent depth (2) exceeded" };
  if (allowedAll.has(call.tool)) return ALLOW;
  if (rights === undefined) return { kind: "ask", reason: `${call.tool} is not known to Crucible`, reversible: false };
  if (isListed(call.tool, rights, policy.requiresApproval)) return { kind: "ask", reason: `this agent must ask before it uses ${call.tool}`, reversible: policy.sandboxed || !rights.includes("Shell") };
  return call.tool.startsWith("mcp__") ? mcpVerdict(rights) : builtinVerdict(call, rights, policy);
}

/** Tools that must be judged before the CLI, which lets some of them pass by itself, decides: a pattern for its hook. */
export function hookedTools(policy: GatePolicy): string[] {
  const names = Object.entries(TOOL_RIGHTS).filter(([tool, rights]) => isListed(tool, rights, policy.requiresApproval)).map(([tool]) => tool);
  return [...new Set([...names, ...SPAWN_TOOLS, ...(policy.sandboxed ? [] : ["Bash", "Read", "Glob", "Grep"])])];
}

function builtinVerdict(call: ToolCall, rights: readonly Permission[], policy: GatePolicy): Verdict {
  const path = pathOf(call.input);
  if (rights.includes("FilesystemWrite") && path !== undefined) {
    const inside = relative(policy.workspace, path);
    if (!inside.startsWith("..") && isProtected(policy.workspace, inside)) {
      return policy.sandboxed ? { kind: "deny", reason: `${inside} is protected and read-only here` } : { kind: "ask", reason: `${inside} is a protected path`, reversible: true };
    }
  }
  if (rights.includes("NetworkAccess")) return policy.allow.includes("NetworkAccess") ? ALLOW : { kind: "ask", reason: "it reads from the network", reversible: true };
  // Inside the sandbox the operating system holds the rest; outside, leaving the workspace and running programs ask.
  if (policy.sandboxed) return ALLOW;
  if (call.tool === "Bash") return { kind: "ask", reason: "there is no sandbox: the command runs with your rights", reversible: false };
  if (path !== undefined && relative(policy.workspace, path).startsWith("..")) return { kind: "ask", reason: `${path} is outside the workspace`, reversible: !rights.includes("FilesystemWrite") };
  return ALLOW;
}

function mcpVerdict(rights: readonly Permission[]): Verdict {
  const risky = rights.find((right) => ["DatabaseWrite", "NetworkAccess", "Shell"].includes(right));
  return risky === undefined ? ALLOW : { kind: "ask", reason: `the server of this tool has the right ${risky}`, reversible: false };
}

/** An MCP server that names no rights is taken to need them all. Undefined for a tool that nobody knows. */
function rightsOf(tool: string, policy: GatePolicy): readonly Permission[] | undefined {
  const server = /^mcp__(.+?)__/.exec(tool)?.[1];
  if (server === undefined) return TOOL_RIGHTS[tool];
  return Object.hasOwn(policy.mcpServers, server) ? (policy.mcpServers[server]?.permissions ?? PERMISSIONS) : undefined;
}

function pathOf(input: Record<string, unknown>): string | undefined {
  const path = input.file_path ?? input.notebook_path ?? input.path;
  return typeof path === "string" && path.startsWith("/") ? path : undefined;
}
