import { randomBytes } from "node:crypto";
import type { Paths } from "../config/paths.ts";
import type { Question } from "../contract/question.ts";
import type { AskInput } from "../contract/runner.ts";
import type { Clock } from "../lib/clock.ts";
import { writing } from "../lib/disk-fault.ts";
import type { Redactor } from "../lib/redact.ts";
import { actionHash, inboxIds, makeInboxFolder, questionFile, readQuestion, writeOnce } from "./question-file.ts";

export type QuestionInput = AskInput & {
  sessionId: string;
  traceId: string;
  agent: string;
  spanId: string;
  workflowId?: string;
  /** Null waits without a deadline; only approvals and permissions have one. */
  timeoutMs: number | null;
  onTimeout: "abort" | "approve";
  /** What a person has to type for something that cannot be undone; the tool's name when it says nothing. */
  confirmWord?: string;
};

export type QuestionDeps = { paths: Pick<Paths, "project">; clock: Clock; redactor: Redactor };

/** Writes the record, synced, before anyone is asked. What an earlier process wrote and could not ask any more is found again. */
export function openQuestion(input: QuestionInput, deps: QuestionDeps): Question {
  const folder = deps.paths.project.inbox;
  makeInboxFolder(folder);
  const hasDeadline = input.kind === "approval" || input.kind === "permission";
  const subject = deps.redactor.value({
    kind: input.kind,
    title: input.title,
    body: input.body,
    session_id: input.sessionId,
    trace_id: input.traceId,
    agent: input.agent,
    span_id: input.spanId,
    key: input.key,
    ...(input.workflowId === undefined ? {} : { workflow_id: input.workflowId }),
    action: input.action,
    reason: input.reason ?? "",
    impact: input.impact ?? "",
    input_schema: input.inputSchema ?? null,
    grant: input.reversible ? (input.grant ?? null) : null,
    reversible: input.reversible,
    confirm_word: input.reversible ? null : (input.confirmWord ?? input.action?.tool ?? "irreversible"),
    options: [...input.options],
    ...(input.category === undefined ? {} : { category: input.category }),
  });
  const hash = actionHash(subject);
  const earlier = pending(folder).find((q) => q.session_id === subject.session_id && q.span_id === subject.span_id && q.key === subject.key && q.action_hash === hash);
  if (earlier !== undefined) return earlier;
  for (;;) {
    const question: Question = {
      v: 1,
      id: randomBytes(4).toString("hex"),
      ...subject,
      action_hash: hash,
      created_at: deps.clock.now().toISOString(),
      time_left_ms: hasDeadline ? input.timeoutMs : null,
      // What cannot be undone is never approved by silence.
      on_timeout: input.reversible ? input.onTimeout : "abort",
    };
    if (writing(`question ${question.id}`, () => writeOnce(folder, questionFile(folder, question.id), question))) return question;
  }
}

function pending(folder: string): Question[] {
  const { ids, closed } = inboxIds(folder);
  return ids.filter((id) => !closed.has(id)).flatMap((id) => readQuestion(folder, id) ?? []);
}
