import type { Paths } from "../../config/paths.ts";
import { durationMs } from "../../contract/duration.ts";
import type { CruEvent, Emit } from "../../contract/event.ts";
import type { Answer, Question } from "../../contract/question.ts";
import type { AgentIdentity, Ask, Asked, AskInput, DecisionHelp } from "../../contract/runner.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { withdrawQuestion } from "../../inbox/answer-question.ts";
import { awaitAnswer } from "../../inbox/await-answer.ts";
import { askFollowUp, openFollowUp, readTalk, type Talk, tellFollowUp } from "../../inbox/follow-up.ts";
import { openQuestion } from "../../inbox/open-question.ts";
import { readAnswer, readQuestion } from "../../inbox/question-file.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Redactor } from "../../lib/redact.ts";

export type AskDeps = {
  paths: Pick<Paths, "project">;
  clock: Clock;
  redactor: Redactor;
  emit: Emit;
  approvals: Settings["approvals"];
  /** False: write the question, save, end; `--resume` goes on. */
  canWait: boolean;
  signal: AbortSignal;
  /** Time that is waited does not count to any limit. */
  waiting<T>(wait: () => Promise<T>): Promise<T>;
  /** Everything that was recorded of this session so far. */
  recorded: readonly CruEvent[];
  /** Hears of each question that is about to be waited for. */
  asking(question: Question, help: DecisionHelp): void;
  /** The agent's own words about the action that it waits for. Never throws. Left out for agents that cannot be asked back. */
  explain?(question: Question, text: string, signal: AbortSignal): Promise<string>;
};

/** How often something that keeps changing is asked about again. */
const MOST_ROUNDS = 3;

/** Asks through the inbox: written before anyone is asked, found again by its key after a restart. */
export function createAsk(agent: AgentIdentity, timeoutS: number | undefined, deps: AskDeps): Ask {
  const who = { session_id: agent.sessionId, span_id: agent.spanId };
  const folder = deps.paths.project.inbox;

  return async (input) => {
    let asking = input;
    for (let round = 2; ; round++) {
      const { question, asked } = await askOnce(asking);
      if (asked.kind === "suspended" || asked.answer.decision !== "approve" || input.refresh === undefined) return asked;
      // Approved is what was shown. When the world has moved since, that is something else.
      const body = await input.refresh();
      if (deps.redactor.text(body) === question.body) return asked;
      if (round > MOST_ROUNDS) return { kind: "answered", answer: refused(asked.answer, "what it would change kept changing while it was asked about") };
      asking = { ...input, key: `${input.key}#${round}`, body };
    }
  };

  async function askOnce(input: AskInput): Promise<{ question: Question; asked: Asked }> {
    const question = reopen(input) ?? open(input);
    const known = readAnswer(folder, question.id);
    const answer = known ?? (deps.canWait ? await wait(question, input) : await explainOnly(question));
    if (answer === undefined) return { question, asked: { kind: "suspended", inboxId: question.id } };
    const isBound = answer.id === question.id && answer.action_hash === question.action_hash;
    const bound = isBound ? answer : refused(answer, "the answer was given for another action");
    close(question, input, bound);
    return { question, asked: { kind: "answered", answer: bound } };
  }

  function wait(question: Question, input: AskInput): Promise<Answer | undefined> {
    const { check, preview } = input;
    deps.asking(question, {
      ...(check === undefined ? {} : { check }),
      ...(preview === undefined ? {} : { preview: async (set) => deps.redactor.text(await preview(set)) }),
      ...(deps.explain === undefined ? {} : { explain: (text: string) => explainFor(question, text) }),
    });
    const { signal } = input;
    const ends = signal === undefined ? deps.signal : AbortSignal.any([deps.signal, signal]);
    return deps.waiting(async () => {
      const answer = await awaitAnswer(question, { ...deps, signal: ends, explain: (followUp, over) => explain(question, followUp, over) });
      return answer ?? (signal?.aborted === true && !deps.signal.aborted ? withdrawQuestion(question, "the agent no longer asks", deps) : undefined);
    });
  }

  /** Nobody can be waited for here, but what was asked about the item meanwhile is answered. */
  async function explainOnly(question: Question): Promise<undefined> {
    for (let next = openFollowUp(folder, question.id); next !== undefined && !deps.signal.aborted; next = openFollowUp(folder, question.id)) {
      tellFollowUp({ id: question.id, n: next.n, text: await explain(question, next, deps.signal) }, deps);
    }
  }

  async function explain(question: Question, { text }: Talk, signal: AbortSignal): Promise<string> {
    const answer = deps.redactor.text((await deps.explain?.(question, text, signal)) ?? "this agent cannot be asked before you decide");
    if (!signal.aborted) deps.emit({ type: "inbox.context", ...who, id: question.id, question: text, answer });
    return answer;
  }

  async function explainFor(question: Question, text: string): Promise<string> {
    const { n } = askFollowUp({ id: question.id, text: deps.redactor.text(text) }, deps);
    for (;;) {
      const told = readTalk(folder, question.id).find((one) => one.n === n)?.told ?? null;
      if (told !== null) return told;
      if (deps.signal.aborted || readAnswer(folder, question.id) !== undefined) return "";
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  function open(input: AskInput): Question {
    const timeoutMs = timeoutS === undefined ? (durationMs(deps.approvals.timeout) ?? null) : timeoutS * 1000;
    const question = openQuestion(
      { ...input, sessionId: agent.sessionId, traceId: agent.traceId, agent: agent.name, spanId: agent.spanId, timeoutMs, onTimeout: deps.approvals.on_timeout },
      deps,
    );
    deps.emit({ type: "inbox.opened", ...who, id: question.id, key: input.key, kind: question.kind, title: question.title, body: question.body });
    return question;
  }

  /** The same question of an earlier process, as long as it is about exactly the same action and shows what it would do now. */
  function reopen(input: AskInput): Question | undefined {
    const at = deps.recorded.findLastIndex((e) => e.type === "inbox.opened" && e.span_id === agent.spanId && e.key === input.key);
    const opened = deps.recorded[at];
    // A call that came to its end is over: the same id again is another call.
    if (deps.recorded.slice(at + 1).some((e) => e.type === "agent.tool_result" && e.span_id === agent.spanId && e.call_id === input.key)) return undefined;
    const question = opened?.type === "inbox.opened" ? readQuestion(folder, opened.id) : undefined;
    if (question === undefined) return undefined;
    if (JSON.stringify(question.action?.input) !== JSON.stringify(deps.redactor.value(input.action)?.input)) return undefined;
    if (input.refresh === undefined || question.body === deps.redactor.text(input.body)) return question;
    const kept = withdrawQuestion(question, "what it would change is not what it was; it is asked again", deps);
    if (kept.status !== "withdrawn") return question;
    close(question, input, kept);
    return undefined;
  }

  function close(question: Question, input: AskInput, answer: Answer): void {
    if (deps.recorded.some((e) => e.type === "inbox.closed" && e.id === question.id)) return;
    const changed = answer.decision === "approve" && Object.keys(answer.set).length > 0;
    const before = input.action?.input;
    const granted = answer.decision === "approve" && answer.scope === "session" && question.grant !== null;
    deps.emit({
      type: "inbox.closed", ...who, id: question.id, status: answer.status, decision: answer.decision, by: answer.by, text: answer.text,
      ...(changed ? { before, after: { ...(before as object), ...answer.set } } : {}),
      ...(granted ? { grant: question.grant ?? "", agent: agent.name } : {}),
    });
  }
}

function refused(answer: Answer, text: string): Answer {
  return { ...answer, decision: "deny", set: {}, scope: "once", by: "policy", text };
}
