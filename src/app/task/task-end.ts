import type { Outcome, OutcomeReason } from "../../contract/runner.ts";
import type { Question } from "../../contract/question.ts";
import { inertLine } from "../../lib/inert.ts";
import { summaryOf } from "../../session/summary.ts";
import type { TaskEnd } from "./task.ts";

export type Verdict = Pick<TaskEnd, "status" | "summary" | "hint"> & {
  /** Why it is not done; empty when it is. */
  why: string;
  /** Somebody has to look before it can go on. */
  needsHuman: boolean;
};

/** What an outcome means for the task. Direct tasks never end as merely failed: their bead is blocked, with the reason. */
export function judgeOutcome(outcome: Outcome, resume: string, question?: Question): Verdict {
  const summary = outcome.output?.summary ?? summaryOf(outcome.text);
  if (outcome.status === "completed") return { status: "completed", summary, why: "", hint: "", needsHuman: false };
  const why = outcome.error?.message ?? WORDS[outcome.status];
  const base = { summary, why, needsHuman: true };
  if (outcome.reason === "suspended") return { ...base, status: "waiting", why: `a question waits for an answer: cru inbox show ${outcome.inboxId ?? ""}`, hint: answerHint(outcome.inboxId ?? "", question) };
  if (outcome.status === "cancelled") return { ...base, status: "interrupted", why: "it was stopped", hint: `go on with ${resume}`, needsHuman: false };
  if (outcome.resetAt !== undefined) return { ...base, status: "blocked", hint: `go on after ${inertLine(outcome.resetAt)} with ${resume}`, needsHuman: false };
  if (outcome.status === "timeout") return { ...base, status: "blocked", hint: `go on with ${resume}, or allow more time (timeouts.${outcome.reason === "idle" ? "idle" : "agent"})` };
  if (outcome.reason === "budget") return { ...base, status: "blocked", hint: `allow more with ${resume} --budget USD` };
  if (outcome.status === "partial" || outcome.status === "blocked") return { ...base, status: "blocked", hint: `go on with ${resume}` };
  return { ...base, status: "failed", hint: HINTS[outcome.reason ?? "completed"] ?? `go on with ${resume}` };
}

function answerHint(id: string, question: Question | undefined): string {
  if (question?.kind === "question" || question?.kind === "guidance") return `cru inbox answer ${id} TEXT --resume`;
  return question?.reversible === false ? `cru inbox approve ${id} --confirm ${question.confirm_word ?? ""} --resume, or deny` : `cru inbox approve ${id} --resume, or deny`;
}

const WORDS: Record<Outcome["status"], string> = {
  completed: "", partial: "it did not come to its end", failed: "the agent failed", denied: "a person refused what it needed", timeout: "timeout", blocked: "it cannot go on by itself", cancelled: "it was stopped",
};

const HINTS: Partial<Record<OutcomeReason, string>> = {
  auth: "cru doctor shows which logins are there",
};
