import { freshMemory } from "../../agent/memory.ts";
import type { Env } from "../../config/paths.ts";
import { durationMs } from "../../contract/duration.ts";
import type { CruEvent, Emit } from "../../contract/event.ts";
import type { AgentIdentity, Outcome, RunnerName } from "../../contract/runner.ts";
import { systemClock } from "../../lib/clock.ts";
import { createRedactor } from "../../lib/redact.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { openExternalRunner } from "../choose-runner.ts";
import { projectGuidance } from "../project-guidance.ts";
import { runExternal } from "../run-external.ts";
import { type AskDeps, createAsk } from "./ask.ts";
import { type Primary, PRIMARY_NAME, type Project } from "./open-chat.ts";
import type { AgentEnd } from "./run-agent.ts";

export type OutsideDeps = {
  runner: Exclude<RunnerName, "model">;
  project: Project;
  primary: Primary;
  session: SessionWriter;
  recorded: readonly CruEvent[];
  emit: Emit;
  env: Env;
  wait: boolean;
  signal: AbortSignal;
  asking: AskDeps["asking"];
  warn(message: string): void;
};

/** One turn of a chat whose primary is the user's own agent program. It keeps the conversation; we keep the record, the gates and the questions. */
export async function runOutside(identity: AgentIdentity, prompt: string, followUp: string | undefined, deps: OutsideDeps): Promise<AgentEnd> {
  const { project, primary, session, emit, env, signal } = deps;
  const { paths, settings } = project;
  const resume = deps.recorded.some((e) => e.type === "agent.process" && e.span_id === identity.spanId);
  emit({
    type: "agent.started", session_id: session.id, span_id: identity.spanId, agent: primary.name, task: followUp ?? prompt, model: primary.model, model_source: primary.modelSource, runner: deps.runner,
    depth: 0, permissions: [...primary.permissions], parent_span_id: null, parent_chain: [...identity.parentChain], definition_hash: primary.hash,
  });
  if (followUp !== undefined) emit({ type: "session.guidance", session_id: session.id, text: followUp, from: "user" });
  const ask = createAsk(identity, primary.approvalTimeoutS, {
    paths, clock: systemClock, redactor: createRedactor(env), emit, approvals: settings.approvals, canWait: deps.wait, signal, recorded: deps.recorded, waiting: (wait) => wait(), asking: deps.asking,
  });
  const outcome = await runExternal(
    {
      agent: identity, system: systemOf(primary, paths.root), prompt, workspace: paths.root, model: primary.model, permissions: primary.permissions, requiresApproval: primary.requiresApproval, resume,
      ...(followUp === undefined ? {} : { followUp }),
      limits: {
        maxIterations: Number.POSITIVE_INFINITY, timeoutMs: durationMs(settings.limits.time) ?? Number.POSITIVE_INFINITY, idleMs: durationMs(settings.timeouts.idle) ?? Number.POSITIVE_INFINITY,
        budgetUsd: settings.limits.budget_usd,
      },
    },
    { emit, ask, signal },
    { runner: openExternalRunner({ name: deps.runner, settings, env, paths }), project, agent: primary, session, recorded: deps.recorded, env, mcp: [], wait: deps.wait, ownGit: false, asking: deps.asking, warn: deps.warn },
  );
  return endOf(outcome, prompt);
}

/** The default primary's prompt is about the loop of this process; a program has its own. */
function systemOf(primary: Primary, root: string): string {
  const guidance = projectGuidance(root);
  return [...(primary.name === PRIMARY_NAME ? [] : [primary.prompt]), ...(guidance === "" ? [] : [`# About this project\n\n${guidance}`])].join("\n\n");
}

function endOf(outcome: Outcome, prompt: string): AgentEnd {
  const base = { text: outcome.text, iterations: 0, error: null, hint: "", inboxId: null, memory: freshMemory(prompt) };
  const why = outcome.error?.message ?? "";
  if (outcome.status === "completed" || outcome.status === "denied") return { ...base, status: "complete", reason: "answered" };
  if (outcome.reason === "suspended") return { ...base, status: "blocked", reason: "needs_person", inboxId: outcome.inboxId ?? null };
  if (outcome.status === "cancelled") return { ...base, status: "cancelled", reason: "aborted" };
  if (outcome.status === "blocked" || outcome.status === "partial") return { ...base, status: "blocked", reason: outcome.reason === "budget" ? "over_budget" : "needs_person", hint: why };
  return { ...base, status: "failed", reason: "error", error: outcome.error ?? { type: outcome.reason ?? outcome.status, message: why } };
}
