import type { ChatEnd, ChatSession } from "../../app/chat/chat-session.ts";
import type { CruEvent } from "../../contract/event.ts";
import { inertLine } from "../../lib/inert.ts";
import { applyDelta, applyEvent, flushReply, userLines } from "./apply-event.ts";
import { duration } from "./call-lines.ts";
import type { ChatState } from "./chat-state.ts";
import { type Line, line, span } from "./line.ts";
import { renderMarkdown } from "./markdown.ts";

export type TurnsDeps = {
  chat: ChatSession;
  state: ChatState;
  print(lines: readonly Line[]): void;
  width(): number;
  now(): number;
  /** Words that were not heard because the work was stopped. */
  unheard(words: string): void;
  /** A bug, or a mistake of the user that only shows when the work starts. */
  failed(error: unknown): void;
};

export type Turns = {
  /** Starts a turn, or steers the one that runs. */
  say(message: string): void;
  /** Goes on with what an earlier process left. */
  goOn(): void;
  /** Stops the work; the conversation stays. */
  interrupt(): void;
  /** Stops, saves and ends. A question that waits stays in the inbox. */
  leave(): Promise<ChatEnd | undefined>;
};

/** One turn after the other: what is said meanwhile steers the running one, or becomes the next. */
export function runTurns(deps: TurnsDeps): Turns {
  const { chat, state } = deps;
  let stop = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let last: ChatEnd | undefined;
  let leaving = false;

  const work = async (message: string | undefined): Promise<void> => {
    stop = new AbortController();
    state.turn++;
    state.printed = [];
    state.stopping = false;
    for (const agent of state.agents) if (agent.depth === 0) Object.assign(agent, { startedMs: deps.now(), endedMs: undefined, status: "running" });
    state.working = { since: deps.now(), doing: "thinking" };
    state.said = message;
    const heardBefore = deps.now();
    last = await chat.turn({ message, signal: stop.signal, takeGuidance: () => state.queued.splice(0) });
    const { signal } = stop;
    state.working = undefined;
    state.questions = [];
    deps.print([...flushReply(state, deps.width()), ...endLines(last, { state, width: deps.width(), ms: deps.now() - heardBefore, stopped: signal.aborted, verbose: state.verbose })]);
    const next = state.queued.splice(0).join("\n");
    if (next === "" || leaving) return;
    if (signal.aborted) deps.unheard(next);
    else begin(next);
  };
  const begin = (message: string | undefined): void => {
    if (message !== undefined) deps.print(userLines(message, deps.width()));
    running = work(message);
    running.catch(deps.failed);
  };

  return {
    say(message) {
      if (state.working === undefined) begin(message);
      else state.queued.push(message);
    },
    goOn() {
      deps.print([[], line("→ going on where it stopped", "dim"), []]);
      begin(undefined);
    },
    interrupt() {
      if (state.working === undefined) return;
      state.stopping = true;
      for (const { question } of state.questions) chat.withdraw(question, "the user stopped the work");
      stop.abort(new DOMException("interrupted", "AbortError"));
    },
    async leave() {
      leaving = true;
      stop.abort(new DOMException("interrupted", "AbortError"));
      await running;
      await chat.close(last?.status ?? "interrupted");
      return last;
    },
  };
}

/** What an earlier process left, as it would stand in the scrollback. */
export function replayEvents(chat: ChatSession, state: ChatState, width: number, most: number): Line[] {
  const lines: Line[] = [];
  for (const event of chat.events) {
    if (event.type === "session.started") lines.push(...userLines(event.request, width));
    else if (event.type === "session.guidance") lines.push(...flushReply(state, width), ...userLines(event.text, width));
    // A text is recorded in pieces; the reply that they belong to ends with its own line.
    else if (event.type === "agent.output") applyDelta(state, event.span_id ?? "", { type: "text", text: event.text }, width, false);
    else if (event.type === "model.reply") lines.push(...flushReply(state, width));
    else if (event.type !== "model.request") lines.push(...applyEvent(state, event, 0, width), ...stopLine(event));
  }
  lines.push(...flushReply(state, width));
  state.questions = [];
  for (const agent of state.agents) agent.endedMs ??= 0;
  for (const call of state.calls) call.ok ??= false;
  return lines.length > most ? [line(`… ${lines.length - most} earlier lines are in the session folder`, "dim"), ...lines.slice(-most)] : lines;
}

function stopLine(event: CruEvent): Line[] {
  return event.type === "agent.completed" && event.status === "interrupted" ? [line("  ■ stopped", "yellow")] : [];
}

type Ended = { state: ChatState; width: number; ms: number; stopped: boolean; verbose: boolean };

function endLines(end: ChatEnd, { state, width, ms, stopped, verbose }: Ended): Line[] {
  const steps = verbose && end.steps !== "" ? [...renderMarkdown(end.steps, width), []] : [];
  const said = end.answer.trim() !== "" && !state.printed.includes(end.answer) ? [...renderMarkdown(end.answer, width), []] : [];
  const time = line(`  ${duration(ms)}`, "dim");
  if (end.status === "waiting") return [];
  if (stopped) return [line("  ■ stopped; what should it do instead?", "yellow"), []];
  if (end.error !== null) {
    const hint = end.hint === "" ? [] : [line(`    → ${inertLine(end.hint, 300)}`, "dim")];
    return [...steps, ...said, [span("  ✗ ", "red"), span(`${inertLine(end.error.type, 60)}: ${inertLine(end.error.message, 300)}`, "red")], ...hint, []];
  }
  if (end.status === "blocked") return [...steps, ...said, line(`  ? ${inertLine(end.hint === "" ? "it stopped before the goal was reached; say how to go on" : end.hint, 300)}`, "yellow"), []];
  return [...steps, ...said, time, []];
}
