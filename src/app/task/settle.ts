import { rmSync } from "node:fs";
import type { Outcome } from "../../contract/runner.ts";
import { readQuestion } from "../../inbox/question-file.ts";
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
  const verdict = judgeOutcome(outcome, `cru task --resume ${session.id}`, outcome.inboxId === undefined ? undefined : readQuestion(prepared.project.paths.project.inbox, outcome.inboxId));
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

/** What the agent program kept for a next time, in this attempt and in earlier ones; there is none. */
function forgetState({ prepared, session, before }: Attempt): void {
  for (const { id } of [session, ...before]) rmSync(sessionStateFolder(prepared.project.paths, id), { recursive: true, force: true });
}

/** Something of ours went wrong, not of the agent's. Whatever it did stays, and the bead says what happened; a full disk must not hide the reason. */
export async function abandon(at: Attempt, place: Workplace | undefined, error: unknown): Promise<void> {
  const { bead, session, store } = at;
  const reason = error instanceof Error ? error.message : String(error);
  const done = await place?.secure({ subject: bead.title, session: session.id }).catch(() => undefined);
  await blockBead(bead, { reason, sessionId: session.id, needsHuman: true }, { store, clock: systemClock }).catch(() => undefined);
  try {
    at.emit({
      type: "task.completed", session_id: session.id, bead_id: bead.id, status: "failed", reason, summary: "", branch: place?.branch ?? null, base: place?.base ?? "", commit: done?.commit ?? null,
      changed_files: (done?.files ?? []).map((file) => file.path),
    });
    session.finish("failed");
  } catch {
    // The session is read as interrupted by whoever comes next.
  }
}
