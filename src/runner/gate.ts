import { relative } from "node:path";
import type { Permission } from "../contract/permission.ts";
import { PERMISSIONS } from "../contract/permission.ts";
import type { McpServer } from "../contract/settings.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import { isProtected } from "../lib/protected-path.ts";

/** What an agent outside this process may do, and what of it a person decides. */
export type GatePolicy = {
  permissions: readonly Permission[];
  requiresApproval: readonly string[];
  /** Rights that need not ask, by the user's settings. */
  allow: readonly Permission[];
  /** `external`: the user vouches for what is around the agent; only protected paths are still asked about. */
  sandbox: Settings["sandbox"]["mode"];
  workspace: string;
  depth: number;
  mcpServers: Readonly<Record<string, McpServer>>;
};

export type Verdict = { kind: "allow" } | { kind: "deny"; reason: string } | { kind: "ask"; reason: string; reversible: boolean };

/** One call as the gates see it. `rights` is undefined for a tool that nobody knows; `paths` are absolute. */
export type GatedCall = {
  /** Its own name, ours, and whatever else `requires_approval` may call it. */
  names: readonly string[];
  label: string;
  rights: readonly Permission[] | undefined;
  paths: readonly string[];
  runsCommand: boolean;
  isMcp: boolean;
};

const ALLOW: Verdict = { kind: "allow" };

/** The same gates as for agents of this process. `isAllowed`: a person has allowed this tool for the rest of the session. */
export function verdictOn(call: GatedCall, policy: GatePolicy, isAllowed: boolean): Verdict {
  const missing = call.rights?.find((right) => !policy.permissions.includes(right));
  if (missing !== undefined) return { kind: "deny", reason: `this agent does not have the right ${missing}` };
  if (isAllowed) return ALLOW;
  if (call.rights === undefined) return { kind: "ask", reason: `${call.label} is not known to Crucible`, reversible: false };
  if (isListed(call.names, call.rights, policy.requiresApproval)) return { kind: "ask", reason: `this agent must ask before it uses ${call.label}`, reversible: policy.sandbox !== "off" || !call.rights.includes("Shell") };
  return call.isMcp ? mcpVerdict(call.rights, policy) : builtinVerdict(call, call.rights, policy);
}

/** Whether `requires_approval` names the tool: by one of its names, or a right that it needs. */
export function isListed(names: readonly string[], rights: readonly Permission[], requiresApproval: readonly string[]): boolean {
  return requiresApproval.some((name) => names.includes(name) || (rights as readonly string[]).includes(name));
}

/** For `mcp__server__tool`: a server that names no rights is taken to need them all, one that we did not give is unknown. Undefined for other tools. */
export function mcpRights(tool: string, policy: Pick<GatePolicy, "mcpServers">): { rights: readonly Permission[] | undefined } | undefined {
  const server = /^mcp__(.+?)__/.exec(tool)?.[1];
  if (server === undefined) return undefined;
  return { rights: Object.hasOwn(policy.mcpServers, server) ? (policy.mcpServers[server]?.permissions ?? PERMISSIONS) : undefined };
}

function builtinVerdict(call: GatedCall, rights: readonly Permission[], policy: GatePolicy): Verdict {
  if (rights.includes("FilesystemWrite")) {
    const inside = call.paths.map((path) => relative(policy.workspace, path)).find((path) => !path.startsWith("..") && isProtected(policy.workspace, path));
    if (inside !== undefined) return policy.sandbox === "required" ? { kind: "deny", reason: `${inside} is protected and read-only here` } : { kind: "ask", reason: `${inside} is a protected path`, reversible: true };
  }
  if (rights.includes("NetworkAccess")) return policy.allow.includes("NetworkAccess") ? ALLOW : { kind: "ask", reason: "it reads from the network", reversible: true };
  // Inside the sandbox the operating system holds the rest; outside, leaving the workspace and running programs ask.
  if (policy.sandbox !== "off") return ALLOW;
  if (call.runsCommand) return { kind: "ask", reason: "there is no sandbox: the command runs with your rights", reversible: false };
  const outside = call.paths.find((path) => relative(policy.workspace, path).startsWith(".."));
  return outside === undefined ? ALLOW : { kind: "ask", reason: `${outside} is outside the workspace`, reversible: !rights.includes("FilesystemWrite") };
}

/** Our own tools need no right of a server: they are gated where they run. */
function mcpVerdict(rights: readonly Permission[], policy: Pick<GatePolicy, "sandbox">): Verdict {
  if (policy.sandbox === "off" && rights.length > 0) return { kind: "ask", reason: "there is no sandbox: the server runs with your rights", reversible: false };
  const risky = rights.find((right) => ["DatabaseWrite", "NetworkAccess", "Shell"].includes(right));
  return risky === undefined ? ALLOW : { kind: "ask", reason: `the server of this tool has the right ${risky}`, reversible: false };
}
