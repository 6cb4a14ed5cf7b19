import type { RecordedReply } from "../../agent/memory.ts";
import type { CruEvent } from "../../contract/event.ts";

export type Attempts = {
  /** What was judged: the attempt's answer and the words about it. */
  judged: { text: string; critique: string }[];
  /** The record of the attempt that comes after them. */
  rest: CruEvent[];
};

/** The record of an agent that judges its own results. All attempts are one agent with one span; a judgement stands between two of them. */
export function attemptsOf(events: readonly CruEvent[], spanId: string): Attempts {
  const purposes = new Map(events.flatMap((e) => (e.type === "model.request" ? [[e.request_id, e.purpose] as const] : [])));
  const attempts: Attempts = { judged: [], rest: [] };
  let text = "";
  for (const event of events) {
    if (!("span_id" in event) || event.span_id !== spanId) continue;
    const reply = event.type === "model.reply" ? (event.reply as RecordedReply) : undefined;
    const purpose = event.type === "model.reply" ? purposes.get(event.request_id) : undefined;
    if (reply?.ok === true && purpose === "critique") {
      attempts.judged.push({ text, critique: reply.text });
      attempts.rest = [];
      text = "";
      continue;
    }
    if (reply?.ok === true && purpose === undefined && reply.text !== "") text = reply.text;
    attempts.rest.push(event);
  }
  return attempts;
}
