import { rmSync } from "node:fs";
import type { Outcome } from "../../contract/runner.ts";
import { systemClock } from "../../lib/clock.ts";
import { endInterruptedAgents } from "../../session/end-interrupted-agents.ts";
import { sessionStateFolder } from "../choose-runner.ts";
import type { Attempt } from "./attempt.ts";
import { blockBead, closeBead } from "./task-bead.ts";
import { judgeOutcome } from "./task-end.ts";
import type { TaskEnd } from "./task.ts";
import type { Work, Workplace } from "./workplace.ts";

export type Ended = { outcome: Outcome; place: Workplace | undefined; done: Work | undefined; durationMs: number };

/** Writes down how it ended: in the session, in the bead, and in what the caller is told. */
export async function settle(at: Attempt, { outcome, place, done, durationMs }: Ended): Promise<TaskEnd> {
  const { bead, session, identity, emit, store, prepared } = at;
  const verdict = judgeOutcome(outcome, `cru task --resume ${session.id}`);
  for (const warning of done?.warnings ?? []) emit({ type: "warning", span_id: identity.spanId, message: warning });
  const used = session.metadata();
  const branch = place?.branch ?? null;
  if (verdict.status !== "waiting") {
    // What it started and did not wait for.
    endInterruptedAgents({ ...session, emit }, { lastSeen: systemClock.now().toISOString() });
    emit({
      type: "agent.completed", session_id: session.id, span_id: identity.spanId, agent: identity.name, status: outcome.status, summary: verdict.summary, duration_ms: durationMs,
      tokens: used.tokens, cost_usd: used.cost_usd, error: outcome.error,
    });
    emit({
      type: "task.completed", session_id: session.id, bead_id: bead.id, status: verdict.status, reason: verdict.why === "" ? null : verdict.why, summary: verdict.summary, branch,
      base: place?.base ?? "", commit: done?.commit ?? null, changed_files: (done?.files ?? []).map((file) => file.path),
    });
  }
  if (verdict.status === "completed") await closeBead(bead, branch, store);
  else await blockBead(bead, { reason: verdict.why, sessionId: session.id, needsHuman: verdict.needsHuman }, { store, clock: systemClock });
  const saved = session.finish(verdict.status);
  if (verdict.status === "completed") forgetState(at);
  return {
    beadId: bead.id, title: bead.title, sessionId: session.id, status: verdict.status, reason: outcome.reason, summary: verdict.summary, output: outcome.output,
    error: verdict.status === "waiting" || verdict.status === "completed" ? null : (outcome.error ?? { type: outcome.reason ?? outcome.status, message: verdict.why }),
    hint: verdict.hint, inboxId: outcome.inboxId ?? null, resetAt: outcome.resetAt ?? null, branch, base: place?.base ?? "", commit: done?.commit ?? null, files: done?.files ?? [], diff: done?.diff ?? "",
    diffTruncated: done?.truncated ?? false, runner: prepared.runner, version: saved.process?.version ?? null, externalSession: saved.process?.external_session ?? null, tokens: saved.tokens,
    costUsd: saved.cost_usd, costEstimated: saved.cost_estimated, durationMs: saved.active_ms,
  };
}

/** What the agent program kept for a next time; there is none. */
function forgetState({ prepared, session }: Attempt): void {
  rmSync(sessionStateFolder(prepared.project.paths, session.id), { recursive: true, force: true });
}
