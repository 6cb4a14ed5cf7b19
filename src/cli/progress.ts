import type { ChatListener } from "../app/chat/chat-session.ts";
import type { NewEvent } from "../contract/event.ts";
import { inertLine } from "../lib/inert.ts";
import { summaryLine } from "../session/summary.ts";
import type { Io } from "./command.ts";

/** Progress on stderr, one line per event that a person wants to know of; the details are in the session folder. */
export function progressPrinter(io: Io, options: { verbose: boolean }): ChatListener {
  const line = (text: string): void => io.err(`${text}\n`);
  const children = new Set<string>();
  // A server that stays away is told once, however often it is tried.
  let retried: string | undefined;
  return {
    opened: ({ id, resumed }) => line(`session ${id}${resumed ? " (resumed)" : ""}`),
    event(event) {
      if (event.type === "agent.started" && event.depth > 0) children.add(event.span_id ?? "");
      const ofPrimary = event.type === "agent.completed" && !children.has(event.span_id ?? "");
      const again = event.type === "agent.retry" && event.reason === retried;
      if (event.type === "agent.retry") retried = event.reason;
      const text = ofPrimary || again ? undefined : progressLine(event, options.verbose);
      if (text !== undefined) line(text);
    },
    delta: () => {},
    warn: (message) => line(`warning: ${inertLine(message)}`),
    ...(io.errIsTerminal ? { bell: () => io.err("\u0007") } : {}),
  };
}

/** One event in words; undefined when it says nothing to a person. */
export function progressLine(event: NewEvent, verbose = false): string | undefined {
  switch (event.type) {
    case "agent.started":
      return event.depth > 0 ? `→ Running ${inertLine(event.agent, 80)} agent...` : undefined;
    case "agent.completed":
      return ending(event);
    case "agent.plan":
      return verbose ? event.tasks.map((t) => `  [${t.status === "done" ? "x" : " "}] ${inertLine(t.description, 100)}`).join("\n") : undefined;
    case "agent.tool_call":
      return verbose ? `  · ${inertLine(event.tool, 60)} ${inertLine(JSON.stringify(event.input) ?? "", 120)}` : undefined;
    case "agent.retry":
      return `  retry ${event.attempt} in ${(event.delay_ms / 1000).toFixed(1)} s: ${inertLine(event.reason, 160)}`;
    case "agent.compacted":
      return "  the conversation was shortened to fit the context window";
    case "inbox.opened":
      return `? ${inertLine(event.title, 160)} (${event.id})`;
    case "inbox.closed":
      return `  ${DECIDED[event.decision]} (${event.id})${event.text === "" ? "" : `: ${inertLine(event.text, 160)}`}`;
    case "warning":
      return `warning: ${inertLine(event.message, 200)}`;
    default:
      return undefined;
  }
}

const DECIDED: Record<Extract<NewEvent, { type: "inbox.closed" }>["decision"], string> = { approve: "approved", deny: "denied", answer: "answered" };

/** A child's summary, indented; for a failure who, what and how bad. */
function ending(event: Extract<NewEvent, { type: "agent.completed" }>): string {
  if (event.error !== null) return `  ✗ error: ${inertLine(event.agent, 80)} failed (${inertLine(event.error.type, 60)}): ${inertLine(event.error.message, 200)}`;
  const mark = event.status === "completed" ? "" : `${event.status === "partial" ? "warning" : "error"}: ${event.status}: `;
  return `  ${mark}${summaryLine(event.summary)}`;
}
