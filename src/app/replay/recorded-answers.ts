import type { CruEvent } from "../../contract/event.ts";
import type { Asked } from "../../contract/runner.ts";
import type { RecordedTurn } from "./turns.ts";

type Opened = Extract<CruEvent, { type: "inbox.opened" }>;
type Closed = Extract<CruEvent, { type: "inbox.closed" }>;

export type RecordedAnswers = {
  /** The answer to a question of this span, `suspended` when there was none in this turn, undefined when it was not asked at all. */
  take(spanId: string, key: string): Asked | undefined;
  /** What a person asked back about this question in this turn, in order; each is given once. */
  context(spanId: string, key: string): { title: string; text: string }[];
  /** A question of this turn that was not asked again. */
  left(): Opened | undefined;
  /** Whether the turn ended with a question that nobody had answered. */
  waits(): boolean;
  /** Whether a person changed the parameters of this call. */
  wasChanged(spanId: string, callId: string): boolean;
};

/** People as the recording knows them. */
export function recordedAnswers(turn: RecordedTurn): RecordedAnswers {
  const all = [...turn.before, ...turn.events];
  const closed = new Map<string, Closed>(all.flatMap((e) => (e.type === "inbox.closed" ? [[e.id, e] as const] : [])));
  const opened = all.filter((e) => e.type === "inbox.opened");
  const told = new Set<CruEvent>();
  const taken = new Set(opened.filter((e) => isOver(e, turn.before)).map((e) => e.id));

  return {
    take(spanId, key) {
      const mine = (wanted: string): Opened | undefined => opened.find((e) => e.span_id === spanId && e.key === wanted && !taken.has(e.id));
      let last: Asked | undefined;
      // Withdrawn ones were asked again under the same key, changed ones under the next.
      for (let round = 1; ; ) {
        const question = mine(round === 1 ? key : `${key}#${round}`);
        if (question === undefined) return last;
        taken.add(question.id);
        const answer = closed.get(question.id);
        if (answer?.status === "withdrawn") {
          // When nothing follows, the work was stopped: a no.
          last = answered(answer);
          continue;
        }
        last = answer === undefined ? { kind: "suspended", inboxId: question.id } : answered(answer);
        if (answer?.decision !== "approve") return last;
        round += 1;
      }
    },
    context(spanId, key) {
      const titles = new Map(opened.filter((e) => e.span_id === spanId && (e.key === key || e.key.startsWith(`${key}#`))).map((e) => [e.id, e.title]));
      const asked = turn.events.filter((e) => e.type === "inbox.context").filter((e) => titles.has(e.id) && !told.has(e));
      for (const one of asked) told.add(one);
      return asked.map((e) => ({ title: titles.get(e.id) ?? "", text: e.question }));
    },
    left: () => opened.find((e) => !taken.has(e.id) && turn.events.includes(e) && closed.get(e.id)?.status !== "withdrawn"),
    waits: () => opened.some((e) => !closed.has(e.id)),
    wasChanged: (spanId, callId) =>
      opened.some((e) => e.span_id === spanId && (e.key === callId || e.key.startsWith(`${callId}#`)) && closed.get(e.id)?.after !== undefined),
  };
}

/** Asked, answered and acted upon before this turn began. */
function isOver(question: Opened, before: readonly CruEvent[]): boolean {
  const at = before.findIndex((e) => e.type === "inbox.closed" && e.id === question.id);
  if (at < 0) return false;
  if (question.key.startsWith("loop-")) return true;
  const [callId] = question.key.split("#");
  return before.slice(at).some((e) => e.type === "agent.tool_result" && e.span_id === question.span_id && e.call_id === callId);
}

function answered(event: Closed): Asked {
  const [before, after] = [event.before as Record<string, unknown> | undefined, event.after as Record<string, unknown> | undefined];
  const set = Object.fromEntries(Object.entries(after ?? {}).filter(([key, value]) => JSON.stringify(before?.[key]) !== JSON.stringify(value)));
  return {
    kind: "answered",
    answer: {
      v: 1, id: event.id, action_hash: "", status: event.status as "answered", decision: event.decision as "approve", text: event.text, set,
      scope: event.grant === undefined ? "once" : "session", by: event.by as "person", answered_at: event.ts,
    },
  };
}
