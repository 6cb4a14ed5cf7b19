import type { CruEvent, NewEvent } from "../../contract/event.ts";

/** Where the user or the time limit ended a turn: as soon as everything that came before has happened again. */
export type RecordedStop = {
  /** Undefined when it was not stopped. */
  at: number | undefined;
  hear(event: NewEvent): void;
  asked(spanId: string, key: string): void;
};

export function recordedStop(events: readonly CruEvent[], stop: () => void): RecordedStop {
  const found = events.findIndex((e) => e.type === "session.stopped");
  const left = new Map<string, number>();
  for (const event of found < 0 ? [] : events.slice(0, found)) {
    const name = event.type === "inbox.opened" ? question(event.span_id ?? "", event.key) : nameOf(event);
    // One question may stand there several times: withdrawn, changed, asked again.
    if (name !== undefined) left.set(name, event.type === "inbox.opened" ? 1 : (left.get(name) ?? 0) + 1);
  }
  const happened = (name: string | undefined): void => {
    const count = name === undefined ? undefined : left.get(name);
    if (name === undefined || count === undefined) return;
    if (count > 1) left.set(name, count - 1);
    else left.delete(name);
    if (left.size === 0) stop();
  };
  return { at: found < 0 ? undefined : found, hear: (event) => happened(nameOf(event)), asked: (spanId, key) => happened(question(spanId, key)) };
}

function nameOf(event: NewEvent): string | undefined {
  switch (event.type) {
    case "agent.started":
      return `started ${event.span_id}`;
    case "model.request":
      return event.purpose === "explanation" ? undefined : `request ${event.span_id}`;
    case "agent.tool_call":
    case "agent.tool_result":
      return `${event.type} ${event.span_id} ${event.call_id}`;
    default:
      return undefined;
  }
}

function question(spanId: string, key: string): string {
  return `question ${spanId} ${key.split("#")[0] ?? ""}`;
}
