import type { Env } from "../../config/paths.ts";
import type { CruEvent } from "../../contract/event.ts";
import type { ModelDelta } from "../../contract/model-call.ts";
import type { Question } from "../../contract/question.ts";
import type { DecisionHelp, Outcome, OutcomeReason, RunDeps, Runner, RunRequest } from "../../contract/runner.ts";
import { systemClock } from "../../lib/clock.ts";
import { extractAgentOutput } from "../../runner/extract-agent-output.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { agentsOf } from "../chat/agents-of.ts";
import { decisionsOf } from "../chat/decisions-of.ts";
import type { Primary, Project } from "../chat/open-chat.ts";
import type { AgentEnd } from "../chat/run-agent.ts";
import { sessionParts } from "../chat/session-parts.ts";
import { startTimeLimit, type TimeLimit } from "../chat/time-limit.ts";
import { openMcp, openSandbox } from "../chat/tool-set.ts";

export type ModelRunnerParts = {
  project: Project;
  primary: Primary;
  session: SessionWriter;
  /** Everything that was recorded of the session; grows while it runs. */
  recorded: readonly CruEvent[];
  env: Env;
  wait: boolean;
  ownGit: boolean;
  /** Further MCP servers that the task asks for. */
  mcp: readonly string[];
  warn(message: string): void;
  onDelta(span: string, delta: ModelDelta): void;
  asking(question: Question, help: DecisionHelp): void;
};

/** The loop of this process as a runner: the agent, its subagents and its tools, in the request's workspace. */
export function createModelRunner(parts: ModelRunnerParts): Runner {
  return { name: "model", run: (request, deps) => runModel(request, deps, parts) };
}

async function runModel(request: RunRequest, deps: RunDeps, parts: ModelRunnerParts): Promise<Outcome> {
  const { project, primary, recorded, env, warn } = parts;
  const settings = {
    ...project.settings,
    loop: { ...project.settings.loop, max_iterations: request.limits.maxIterations },
    limits: { ...project.settings.limits, budget_usd: request.limits.budgetUsd },
  };
  const limit = startTimeLimit(request.limits.timeoutMs, 0, systemClock.monotonicMs);
  const mcp = await openMcp(project, { workspace: request.workspace, permissions: primary.permissions, env, warn, task: parts.mcp });
  const own = { ...project, settings };
  const agents = agentsOf({
    ...sessionParts({ project: own, env, events: recorded, emit: deps.emit }),
    project: own, primary, session: parts.session, recorded, emit: deps.emit, limit, wait: parts.wait, env, mcp,
    workspace: request.workspace,
    worktree: { binds: request.binds ?? [], ownGit: parts.ownGit },
    signal: AbortSignal.any([deps.signal, limit.signal]),
    onDelta: parts.onDelta,
    sandbox: await openSandbox(settings.sandbox.mode, env, warn),
    takeGuidance: () => [],
    asking: parts.asking,
  });
  try {
    return outcomeOf(await agents.runPrimary(request.agent, request.prompt, wakingWords(recorded, request.agent.spanId)), request, { ...parts, limit });
  } finally {
    limit.stop();
    await mcp.close();
  }
}

/** An agent that came to an end of its own has nothing left to do: taken up again, it is told why. */
function wakingWords(recorded: readonly CruEvent[], spanId: string): string | undefined {
  const last = recorded.findLast((event) => "span_id" in event && event.span_id === spanId);
  if (last?.type !== "agent.completed" || (last.status !== "denied" && !ITS_OWN_ENDS.has(last.error?.type ?? ""))) return undefined;
  return `The task is taken up again. It had ended like this: ${last.error?.message ?? "a person refused what you wanted to do"}. Go on from there, and end as you were asked to.`;
}

const ITS_OWN_ENDS = new Set<string>(["invalid_output", "reported_failure"] satisfies OutcomeReason[]);

type Ended = Pick<ModelRunnerParts, "session" | "recorded"> & { limit: TimeLimit };

function outcomeOf(end: AgentEnd, request: RunRequest, { session, recorded, limit }: Ended): Outcome {
  const used = session.metadata();
  const { denials, modifications, lastDenied } = decisionsOf(recorded, request.agent.spanId);
  const base = { text: end.text, output: null, tokens: used.tokens, costUsd: used.cost_usd, costEstimated: used.cost_estimated, denials, modifications, error: end.error };
  const stopped = (message: string): Outcome["error"] => end.error ?? { type: end.reason, message: end.hint === "" ? message : end.hint };
  if (end.inboxId !== null) return { ...base, status: "blocked", reason: "suspended", inboxId: end.inboxId };
  if (limit.signal.aborted) return { ...base, status: "timeout", reason: "time", error: { type: "time", message: "timeout: the agent's time was over" } };
  if (end.status === "cancelled") return { ...base, status: "cancelled", reason: "cancelled" };
  if (end.reason === "over_budget") return { ...base, status: "blocked", reason: "budget", error: stopped("the budget for this agent is used up") };
  if (end.reason === "max_iterations") return { ...base, status: "partial", reason: "max_turns", error: stopped("it used all its iterations") };
  if (end.status !== "complete") return { ...base, status: end.status === "blocked" ? "blocked" : "failed", reason: "api_error", error: stopped("the agent could not go on") };
  if (request.expectsOutput !== true) return { ...base, status: lastDenied ? "denied" : "completed", reason: lastDenied ? "denied" : "completed" };
  const found = extractAgentOutput(end.text);
  if (!found.ok) return { ...base, status: "failed", reason: "invalid_output", error: { type: "invalid_output", message: found.fault } };
  const { output } = found;
  if (output.success) return { ...base, status: "completed", reason: "completed", output };
  const error = { type: "reported_failure", message: output.error ?? output.summary };
  return lastDenied ? { ...base, status: "denied", reason: "denied", output, error } : { ...base, status: "failed", reason: "reported_failure", output, error };
}
