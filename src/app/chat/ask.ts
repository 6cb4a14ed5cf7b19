import type { Paths } from "../../config/paths.ts";
import { durationMs } from "../../contract/duration.ts";
import type { CruEvent, Emit } from "../../contract/event.ts";
import type { Answer, Question } from "../../contract/question.ts";
import type { AgentIdentity, Ask, AskInput, DecisionHelp } from "../../contract/runner.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { awaitAnswer } from "../../inbox/await-answer.ts";
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
  /** Of an earlier process of this session. */
  recorded: readonly CruEvent[];
  /** Hears of each question that is about to be waited for. */
  asking(question: Question, help: DecisionHelp): void;
};

/** Asks through the inbox: written before anyone is asked, found again by its key after a restart. */
export function createAsk(agent: AgentIdentity, timeoutS: number | undefined, deps: AskDeps): Ask {
  const who = { session_id: agent.sessionId, span_id: agent.spanId };
  return async (input) => {
    const question = reopen(input, agent, deps) ?? open(input);
    const known = readAnswer(deps.paths.project.inbox, question.id);
    const answer = known ?? (deps.canWait ? await wait(question, input) : undefined);
    if (answer === undefined) return { kind: "suspended", inboxId: question.id };
    const bound = isBound(answer, question) ? answer : { ...answer, decision: "deny" as const, set: {}, text: "the answer was given for another action" };
    close(question, input, bound);
    return { kind: "answered", answer: bound };
  };

  function wait(question: Question, input: AskInput): Promise<Answer | undefined> {
    const { check, explain } = input;
    const recorded = explain === undefined ? {} : {
      explain: async (text: string): Promise<string> => {
        const answer = await explain(text);
        deps.emit({ type: "inbox.context", ...who, id: question.id, question: text, answer });
        return answer;
      },
    };
    deps.asking(question, { ...(check === undefined ? {} : { check }), ...recorded });
    return deps.waiting(() => awaitAnswer(question, deps));
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

  function close(question: Question, input: AskInput, answer: Answer): void {
    const changed = answer.decision === "approve" && Object.keys(answer.set).length > 0;
    const before = input.action?.input;
    deps.emit({
      type: "inbox.closed", ...who, id: question.id, status: answer.status, decision: answer.decision, by: answer.by, text: answer.text,
      ...(changed ? { before, after: { ...(before as object), ...answer.set } } : {}),
    });
  }
}

/** The same question of an earlier process, as long as it is about exactly the same action. */
function reopen(input: AskInput, agent: AgentIdentity, deps: AskDeps): Question | undefined {
  const opened = deps.recorded.findLast((e) => e.type === "inbox.opened" && e.span_id === agent.spanId && e.key === input.key);
  if (opened?.type !== "inbox.opened") return undefined;
  const question = readQuestion(deps.paths.project.inbox, opened.id);
  const same = JSON.stringify(question?.action?.input) === JSON.stringify(deps.redactor.value(input.action)?.input);
  return same ? question : undefined;
}

function isBound(answer: Answer, question: Question): boolean {
  return answer.id === question.id && answer.action_hash === question.action_hash;
}
