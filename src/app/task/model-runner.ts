import { openBudget } from "../../agent/budget.ts";
import type { Env } from "../../config/paths.ts";
import type { CruEvent } from "../../contract/event.ts";
import type { ModelDelta } from "../../contract/model-call.ts";
import type { Question } from "../../contract/question.ts";
import type { DecisionHelp, Outcome, RunDeps, Runner, RunRequest } from "../../contract/runner.ts";
import { systemClock } from "../../lib/clock.ts";
import { openQueue } from "../../lib/queue.ts";
import { createRedactor } from "../../lib/redact.ts";
import { createStreamModel } from "../../llm/stream-model.ts";
import { extractAgentOutput } from "../../runner/extract-agent-output.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { agentsOf } from "../chat/agents-of.ts";
import { decisionsOf } from "../chat/decisions-of.ts";
import type { Primary, Project } from "../chat/open-chat.ts";
import type { AgentEnd } from "../chat/run-agent.ts";
import { spentBefore } from "../chat/spent-before.ts";
import { startTimeLimit, type TimeLimit } from "../chat/time-limit.ts";
import { openMcp, openSandbox } from "../chat/tool-set.ts";
import { noteTools } from "../notes.ts";

export type ModelRunnerParts = {
  project: Project;
  primary: Primary;
  session: SessionWriter;
  /** Everything that was recorded of the session; grows while it runs. */
  recorded: readonly CruEvent[];
  env: Env;
  wait: boolean;
  ownGit: boolean;
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
  const settings = { ...project.settings, loop: { ...project.settings.loop, max_iterations: request.limits.maxIterations } };
  const limit = startTimeLimit(request.limits.timeoutMs, 0, systemClock.monotonicMs);
  const mcp = await openMcp(project, { workspace: request.workspace, permissions: primary.permissions, env, warn });
  const budget = openBudget({ usd: request.limits.budgetUsd, tokens: settings.limits.budget_tokens }, spentBefore(recorded), (share) =>
    deps.emit({ type: "warning", span_id: request.agent.spanId, message: `${Math.round(share * 100)} % of the budget is used` }),
  );
  const agents = agentsOf({
    project: { ...project, settings }, primary, session: parts.session, recorded, emit: deps.emit, budget, limit, wait: parts.wait, env, mcp,
    workspace: request.workspace,
    children: new Set(recorded.flatMap((e) => (e.type === "agent.started" && e.depth > 0 ? [e.span_id ?? ""] : []))),
    worktree: { binds: request.binds ?? [], ownGit: parts.ownGit },
    signal: AbortSignal.any([deps.signal, limit.signal]),
    onDelta: parts.onDelta,
    redactor: createRedactor(env),
    queue: openQueue({ maxConcurrent: settings.queue.max_concurrent, perGroup: settings.queue.providers }),
    stream: createStreamModel({ env }),
    sandbox: await openSandbox(settings.sandbox.mode, env, warn),
    notes: noteTools({ paths: project.paths, settings, env }),
    takeGuidance: () => [],
    asking: parts.asking,
  });
  try {
    return outcomeOf(await agents.runPrimary(request.agent, request.prompt, undefined), request, { ...parts, limit });
  } finally {
    limit.stop();
    await mcp.close();
  }
}

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
