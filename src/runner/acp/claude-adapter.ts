import type { RunRequest } from "../../contract/runner.ts";
import { askedTools } from "../claude/gate.ts";
import { offeredTools, SPAWN_TOOLS } from "../claude/tool-rights.ts";
import type { GatePolicy } from "../gate.ts";
import type { Message } from "../message.ts";

/** Adapters that put the Claude CLI behind the protocol, under the names they have had. */
export function isClaudeAdapter(agentName: string): boolean {
  return /(?:^|\/)claude-(?:agent|code)-acp$/.test(agentName);
}

/** The same by where the program lies, before it has said who it is. */
export function isClaudeProgram(path: string): boolean {
  return /\/claude-(?:agent|code)-acp(?:\/|$)/.test(path);
}

/**
 * What such an adapter takes beside the protocol: the CLI's own tools by our rights, questions where it would let pass, no settings of
 * the worktree. As root it starts at all only without its way around permissions.
 */
export function claudeOptions(request: RunRequest, policy: GatePolicy): Message {
  const { offered, disallowed } = offeredTools(policy);
  const { maxIterations, budgetUsd } = request.limits;
  const options = {
    allowDangerouslySkipPermissions: false,
    settingSources: [],
    strictMcpConfig: true,
    // Without one it would ask the model for one.
    title: request.agent.name,
    promptSuggestions: false,
    tools: offered.filter((tool) => !SPAWN_TOOLS.includes(tool)),
    disallowedTools: [...new Set([...disallowed, ...SPAWN_TOOLS])],
    settings: { permissions: { ask: askedTools(policy), disableBypassPermissionsMode: "disable" } },
    ...(Number.isFinite(maxIterations) && maxIterations > 0 ? { maxTurns: maxIterations } : {}),
    ...(budgetUsd === null ? {} : { maxBudgetUsd: budgetUsd }),
  };
  return { claudeCode: { options } };
}
