import type { Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import type { Answer, Question } from "../contract/question.ts";
import type { Clock } from "../lib/clock.ts";
import { writing } from "../lib/disk-fault.ts";
import { checkChanges } from "./changed-parameters.ts";
import { actionHash, answerFile, readAnswer, readQuestion, writeOnce } from "./question-file.ts";

export type AnswerInput = {
  id: string;
  decision: Answer["decision"];
  text?: string;
  /** Changed parameters of the action. */
  set?: Record<string, unknown>;
  confirm?: string;
  /** `session`: allow what the question names as its grant until the session ends. */
  scope?: Answer["scope"];
  /** What the person was shown; refused when the record says something else by now. */
  actionHash?: string;
};

export type InboxDeps = { paths: Pick<Paths, "project">; clock: Clock };

/** Records a person's answer. The first one wins; everyone after it is told who did. */
export function answerQuestion(given: AnswerInput, deps: InboxDeps): Answer {
  const folder = deps.paths.project.inbox;
  const question = readQuestion(folder, given.id);
  if (question === undefined) throw new CruError("not_found", `there is no question '${given.id}'`, { hint: "see `cru inbox list`" });
  const input = byQuickAction(question, given);
  const answering = given.decision === "answer" ? `answer ${question.id} "${input.text ?? ""}"` : `approve ${question.id}`;
  const earlier = readAnswer(folder, input.id);
  if (earlier !== undefined) throw alreadyClosed(earlier);
  checkAction(question, input);
  checkDecision(question, input, answering);
  return close(question, {
    status: "answered", decision: input.decision, by: "person", text: chosen(question, input.text ?? ""), set: input.set ?? {},
    scope: input.scope ?? "once",
  }, deps);
}

/** The owner no longer needs an answer. An answer that was first stays. */
export function withdrawQuestion(question: Question, reason: string, deps: InboxDeps): Answer {
  return closeOrKeep(question, { status: "withdrawn", decision: "deny", by: "policy", text: reason, set: {}, scope: "once" }, deps);
}

/** The deadline has passed. An answer that was first stays. */
export function expireQuestion(question: Question, deps: InboxDeps): Answer {
  const decision = question.on_timeout === "approve" && question.reversible ? "approve" : "deny";
  return closeOrKeep(question, { status: "expired", decision, by: "timeout", text: "nobody answered in time", set: {}, scope: "once" }, deps);
}

type Closing = Pick<Answer, "status" | "decision" | "by" | "text" | "set" | "scope">;

function close(question: Question, closing: Closing, deps: InboxDeps): Answer {
  const folder = deps.paths.project.inbox;
  const answer: Answer = { v: 1, id: question.id, action_hash: question.action_hash, ...closing, answered_at: deps.clock.now().toISOString() };
  if (writing(`the answer to ${question.id}`, () => writeOnce(folder, answerFile(folder, question.id), answer))) return answer;
  const winner = readAnswer(folder, question.id);
  throw winner === undefined ? new CruError("failed", `${question.id} has an answer that cannot be read`) : alreadyClosed(winner);
}

function closeOrKeep(question: Question, closing: Closing, deps: InboxDeps): Answer {
  try {
    return close(question, closing, deps);
  } catch (error) {
    const winner = readAnswer(deps.paths.project.inbox, question.id);
    if (winner !== undefined) return winner;
    throw error;
  }
}

function alreadyClosed(answer: Answer): CruError {
  const how = answer.status === "answered" ? `answered (${answer.decision})` : answer.status;
  return new CruError("failed", `${answer.id} is already ${how} by ${answer.by} at ${answer.answered_at}`, { hint: `see \`cru inbox show ${answer.id}\`` });
}

function checkAction(question: Question, input: AnswerInput): void {
  const changed = actionHash(question) !== question.action_hash;
  if (changed || (input.actionHash !== undefined && input.actionHash !== question.action_hash)) {
    throw new CruError("failed", `${question.id} no longer asks what it asked: its action was changed`, { hint: "do not approve it; resume the session to be asked again" });
  }
}

function checkDecision(question: Question, input: AnswerInput, answering: string): void {
  const fault = input.decision === "answer" ? choiceFault(question, input.text ?? "") : undefined;
  if (fault !== undefined) throw new CruError("usage", `${question.id}: ${fault}`, { hint: "nothing was answered; it still waits" });
  const words = question.kind === "question" || question.kind === "guidance";
  if (words && input.decision === "approve") throw new CruError("usage", `${question.id} is a question`, { hint: `cru inbox answer ${question.id} TEXT` });
  if (!words && input.decision === "answer") {
    throw new CruError("usage", `${question.id} asks for a decision, not for words`, { hint: `cru inbox approve ${question.id}, or deny with --reason` });
  }
  if (input.decision === "answer" && (input.text ?? "").trim() === "") throw new CruError("usage", "the answer is empty");
  if (input.decision !== "approve") return;
  checkChanges(question, input.set ?? {});
  checkScope(question, input);
  if (question.reversible || input.confirm === question.confirm_word) return;
  throw new CruError("usage", `${question.id} cannot be undone; it needs its confirmation word`, {
    hint: `cru inbox ${answering} --confirm ${question.confirm_word ?? ""}`,
  });
}

/** What cannot be undone is decided each time; changed parameters are about this one call. */
function checkScope(question: Question, input: AnswerInput): void {
  if (input.scope !== "session") return;
  if (question.grant === null) throw new CruError("usage", `${question.id} can be approved only for this once`, { hint: `cru inbox approve ${question.id}` });
  if (Object.keys(input.set ?? {}).length > 0) throw new CruError("usage", "changed parameters are approved for one call, not for a session", { hint: "leave out --session or --set" });
}

/** A permission may be answered by one of its own words: Allow, Deny, Allow All. */
function byQuickAction(question: Question, input: AnswerInput): AnswerInput {
  if (question.kind !== "permission" || input.decision !== "answer") return input;
  const word = chosen(question, input.text ?? "").trim().toLowerCase();
  const option = question.options.find((o) => o.toLowerCase() === word);
  return option === undefined ? input : { ...input, decision: option.toLowerCase() === "deny" ? "deny" : "approve", text: option };
}

/** A bare number can only mean one of the options, when there are any. */
export function choiceFault({ options }: Pick<Question, "options">, text: string): string | undefined {
  const word = text.trim();
  if (options.length === 0 || !/^\d+$/.test(word) || options.includes(word)) return undefined;
  const n = Number(word);
  return n >= 1 && n <= options.length ? undefined : `there is no option ${word} (${options.map((option, i) => `${i + 1}. ${option}`).join(", ")})`;
}

/** `2` picks the second of the options, unless an option is called `2`. */
function chosen({ options }: Question, text: string): string {
  const word = text.trim();
  return /^\d+$/.test(word) && !options.includes(word) ? (options[Number(word) - 1] ?? text) : text;
}
