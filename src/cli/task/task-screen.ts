import type { TaskListener } from "../../app/task/task.ts";
import { CruError } from "../../contract/error.ts";
import type { NewEvent } from "../../contract/event.ts";
import type { AnswerInput } from "../../inbox/answer-question.ts";
import { inertLine } from "../../lib/inert.ts";
import { agentTree } from "../chat/agent-tree.ts";
import { applyDelta, applyEvent } from "../chat/apply-event.ts";
import { runningLine } from "../chat/call-lines.ts";
import { newState, type Pending } from "../chat/chat-state.ts";
import { type Dialog, type DialogEffect, openDialog, pressDialog } from "../chat/dialog.ts";
import { dialogView } from "../chat/dialog-view.ts";
import type { Key } from "../chat/keys.ts";
import { cut, type Line, line, span, spread, wrap } from "../chat/line.ts";
import { createScreen, type Frame } from "../chat/screen.ts";
import { openTerminal } from "../chat/terminal.ts";
import { cost, count } from "../figures.ts";
import { spokenText, taskLine } from "./task-progress.ts";

export type TaskScreen = TaskListener & { close(): void };

const TICK_MS = 120;
const FRAME_MS = 16;
/** Who was typing gets this long to look up. */
const ARM_MS = 800;
const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const STATUS: Record<string, string> = { thinking: "thinking", writing: "writing", running_command: "running a command", waiting: "waiting for you", idle: "ending" };
/** More are not looked at again, and they hold what tools printed. */
const MOST_CALLS = 20;

type Asked = Pending & { answer(answer: AnswerInput): void };

/** A task on a terminal: what the agent does scrolls by, below it stand what it does now and, when it asks, the question. */
export function openTaskScreen({ colour, stop }: { colour: boolean; stop(): void }): TaskScreen {
  const now = (): number => performance.now();
  const began = now();
  const state = newState(false);
  const asked: Asked[] = [];
  let dialog: Dialog | undefined;
  let status = "getting ready";
  let stopping = false;
  let lastKeyMs = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  const terminal = openTerminal({ key: press, resize: () => screen.resized(frame()), hangUp: stop });
  const screen = createScreen({ write: terminal.write, columns: terminal.columns, colour });
  const width = (): number => Math.max(20, terminal.columns() - 1);
  const tick = setInterval(changed, TICK_MS);

  function frame(): Frame {
    const spinner = SPINNER[Math.floor(now() / TICK_MS) % SPINNER.length] ?? "·";
    if (dialog !== undefined) return dialogView(dialog, { width: width(), rows: Math.max(8, terminal.rows() - 2), now: now(), more: asked.length - 1, armed: isArmed() });
    const running = state.calls.filter((call) => call.ok === undefined).slice(-4).map((call) => runningLine(call, now(), spinner, width()));
    const figures = state.tokens === 0 ? "" : `${count(state.tokens)} tok · ${cost(state.costUsd)}${state.estimated ? " estimated" : ""}`;
    const doing = stopping ? "stopping; what it did is kept" : `${status} ${Math.floor((now() - began) / 1000)} s`;
    const foot = spread([span(`${spinner} `, "yellow"), span(doing), span(stopping ? "" : "  Ctrl-C stops", "dim")], [span(figures, "dim")], width());
    return { lines: [...running, ...agentTree(state, now(), spinner, width()), foot], cursor: undefined };
  }

  /** Keys that were meant for something else must not decide anything. */
  function isArmed(): boolean {
    return now() - lastKeyMs > ARM_MS || lastKeyMs > (asked[0]?.openedMs ?? 0) + ARM_MS;
  }

  function changed(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      screen.draw(frame());
    }, FRAME_MS);
  }

  function print(lines: readonly Line[]): void {
    if (lines.length > 0) screen.print(lines.flatMap((one) => wrap(one, width(), [span("    ")])), frame());
  }

  function hear(event: NewEvent): void {
    if (event.type === "agent.status") status = STATUS[event.status] ?? status;
    if (event.type === "inbox.closed") closeQuestion(event.id);
    if (event.type === "agent.process") print([line(taskLine(event) ?? "", "dim")]);
    const text = event.type === "agent.output" ? spokenText(event.text) : "";
    const told = event.type === "agent.output" ? { ...event, text } : event;
    if (event.type !== "agent.output" || text.trim() !== "") print(applyEvent(state, told, now(), width()).filter((one) => one.length > 0));
    state.calls = state.calls.slice(-MOST_CALLS);
    state.printed = [];
    changed();
  }

  function closeQuestion(id: string): void {
    const at = asked.findIndex((one) => one.question.id === id);
    if (at >= 0) asked.splice(at, 1);
    state.questions = [...asked];
    const [next] = asked;
    dialog = next === undefined ? undefined : openDialog(next);
  }

  function press(key: Key): void {
    if (key.type === "key" && key.name === "ctrl-c") interrupt();
    else if (key.type === "key" && key.name === "ctrl-z") terminal.suspend(() => screen.resized(frame()));
    else if (dialog === undefined || !isArmed()) lastKeyMs = now();
    else apply(pressDialog(dialog, key), dialog);
    changed();
  }

  function interrupt(): void {
    stopping = true;
    dialog = undefined;
    stop();
  }

  function apply(effect: DialogEffect, open: Dialog): void {
    if (effect.kind === "interrupt") return interrupt();
    const [first] = asked;
    if (effect.kind === "preview") void first?.preview?.(open.set).then((text) => ((open.preview = text), changed()));
    if (effect.kind === "ask") {
      const talk = open.talk.at(-1);
      void first?.explain?.(effect.text).then((answer) => (talk !== undefined && (talk.answer = answer), changed()));
    }
    if (effect.kind !== "answer") return;
    try {
      first?.answer({ ...effect.answer, id: first.question.id, actionHash: first.question.action_hash });
    } catch (error) {
      if (!(error instanceof CruError)) throw error;
      open.fault = error.message;
    }
  }

  screen.draw(frame());
  return {
    opened(task) {
      const where = task.branch === null ? "in place" : `branch ${task.branch}`;
      print([
        [span(task.resumed ? "↻ " : "→ ", "blue"), span(inertLine(task.title, 200), "bold")],
        cut([span(`  ${task.beadId} · ${where} · ${task.runner}, ${inertLine(task.model, 60)} · session ${task.sessionId}`, "dim")], width()),
      ]);
    },
    say: (text) => print([line(`  ${text}`, "dim")]),
    event: hear,
    delta: (spanId, delta) => print(applyDelta(state, spanId, delta, width(), false)),
    warn: (message) => print([line(`warning: ${inertLine(message)}`, "yellow")]),
    asking(question, help, answer) {
      asked.push({ ...help, question, openedMs: now(), answer });
      state.questions = [...asked];
      dialog ??= openDialog(asked[0] as Asked);
      changed();
    },
    bell: () => terminal.write("\u0007"),
    close() {
      clearInterval(tick);
      clearTimeout(timer);
      screen.clear();
      terminal.close();
    },
  };
}
