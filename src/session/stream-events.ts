import type { NewEvent } from "../contract/event.ts";
import { createStreamRedactor, type Redactor, type StreamRedactor } from "../lib/redact.ts";

type Piece = Extract<NewEvent, { type: "agent.output" | "agent.thinking" | "agent.stderr" }>;
type Held = { stream: StreamRedactor; last: Piece };

/**
 * Texts that come in pieces: a secret may be cut in two by the boundary, so the last word of each piece waits for the next one.
 * Any other event of the same agent lets the rest go first.
 */
export function holdStreams(redactor: Redactor, record: (event: NewEvent, isClean?: boolean) => void): { add(event: NewEvent): void; flush(): void } {
  const held = new Map<string, Held>();
  const release = (key: string, { stream, last }: Held): void => {
    held.delete(key);
    const rest = stream.end();
    if (rest !== "") record(withText(last, rest), true);
  };
  const releaseAgent = (agent: string, but?: string): void => {
    if (held.size === 0 || (held.size === 1 && but !== undefined && held.has(but))) return;
    for (const [key, one] of held) if (key !== but && agentOf(one.last) === agent) release(key, one);
  };
  return {
    add(event) {
      const agent = agentOf(event);
      if (!isPiece(event)) {
        releaseAgent(agent);
        record(event);
        return;
      }
      const key = `${event.type} ${agent}`;
      releaseAgent(agent, key);
      let one = held.get(key);
      if (one === undefined) held.set(key, (one = { stream: createStreamRedactor(redactor), last: event }));
      one.last = event;
      const ready = one.stream.push(textOf(event));
      if (ready !== "") record(withText(event, ready), true);
    },
    flush() {
      for (const [key, one] of held) release(key, one);
    },
  };
}

function agentOf(event: NewEvent): string {
  return "span_id" in event ? (event.span_id ?? "") : "";
}

function isPiece(event: NewEvent): event is Piece {
  return event.type === "agent.output" || event.type === "agent.thinking" || event.type === "agent.stderr";
}

function textOf(event: Piece): string {
  return event.type === "agent.thinking" ? event.content : event.text;
}

function withText(event: Piece, text: string): Piece {
  return event.type === "agent.thinking" ? { ...event, content: text } : { ...event, text };
}
