import { type GatePolicy, isListed, mcpRights, type Verdict, verdictOn } from "../gate.ts";
import { mayUse, namesOf, SPAWN_TOOLS, TOOL_RIGHTS } from "./tool-rights.ts";

export type ToolCall = { tool: string; input: Record<string, unknown>; bySubagent: boolean };

/**
 * What may run without asking, what never runs, and what a person decides. `allowedAll` holds the tools that a person has allowed
 * this agent for the rest of its session.
 */
export function judge(call: ToolCall, policy: GatePolicy, allowedAll: ReadonlySet<string>): Verdict {
  const mcp = mcpRights(call.tool, policy);
  const isSpawn = SPAWN_TOOLS.includes(call.tool) && (call.bySubagent || !mayUse(call.tool, policy));
  if (isSpawn) return { kind: "deny", reason: "Maximum agent depth (2) exceeded" };
  const path = pathOf(call.input);
  return verdictOn(
    {
      names: namesOf(call.tool), label: call.tool, rights: mcp === undefined ? TOOL_RIGHTS[call.tool] : mcp.rights, paths: path === undefined ? [] : [path], runsCommand: call.tool === "Bash",
      isMcp: mcp !== undefined,
    },
    policy,
    allowedAll.has(call.tool),
  );
}

/** Tools that must be judged before the CLI, which lets some of them pass by itself, decides: a pattern for its hook. */
export function hookedTools(policy: GatePolicy): string[] {
  return [...new Set([...askedTools(policy), ...SPAWN_TOOLS])];
}

/** Tools that ask although the CLI would let them pass. */
export function askedTools(policy: GatePolicy): string[] {
  const names = Object.entries(TOOL_RIGHTS).filter(([tool, rights]) => isListed(namesOf(tool), rights, policy.requiresApproval)).map(([tool]) => tool);
  return [...new Set([...names, ...(policy.sandbox !== "off" ? [] : ["Bash", "Read", "Glob", "Grep"])])];
}

function pathOf(input: Record<string, unknown>): string | undefined {
  const path = input.file_path ?? input.notebook_path ?? input.path;
  return typeof path === "string" && path.startsWith("/") ? path : undefined;
}
