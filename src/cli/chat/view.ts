import { cost, shortCount } from "../figures.ts";
import { agentTree } from "./agent-tree.ts";
import { detailLines, runningLine } from "./call-lines.ts";
import { type Call, type ChatState, liveChildren } from "./chat-state.ts";
import type { Menu } from "./completion.ts";
import type { Dialog } from "./dialog.ts";
import { dialogView, keyLines } from "./dialog-view.ts";
import type { Editor } from "./editor.ts";
import { cut, type Line, line, span, spread } from "./line.ts";
import { renderMarkdown } from "./markdown.ts";
import { planLines } from "./plan-lines.ts";
import type { Frame } from "./screen.ts";
import { inertLine } from "../../lib/inert.ts";
import { displayWidth } from "../display-width.ts";

/** What is open on the screen besides the conversation. */
export type Focus = {
  dialog: Dialog | undefined;
  /** The panel of tool calls: which one, counted from the newest, and how far it is scrolled. */
  calls: { back: number; scroll: number } | undefined;
  /** Commands or files to choose from. */
  menu: Menu | undefined;
  editor: Editor;
  /** One line about the last key, e.g. that a second Ctrl-C leaves. */
  hint: string;
  armed: boolean;
};

/** `gap`: the last line of the scrollback is not empty. */
export type ViewInput = { gap: boolean; state: ChatState; focus: Focus; model: string; now: number; columns: number; rows: number };

const SPINNER = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/** Everything below the scrollback. Never higher than the terminal; what matters least gives way first. */
export function view(input: ViewInput): Frame {
  const { state, focus, now } = input;
  const width = Math.max(20, input.columns - 1);
  const rows = Math.max(6, input.rows - 1);
  if (focus.calls !== undefined) return callsPanel(state, focus.calls, width, rows);
  const spinner = SPINNER[Math.floor(now / 120) % SPINNER.length] ?? "·";
  const foot = focus.dialog === undefined ? inputView(input, width, spinner) : dialogView(focus.dialog, { width, rows: Math.max(8, rows - 2), now, more: state.questions.length - 1, armed: focus.armed });
  const gap: Line[] = input.gap ? [[]] : [];
  const above = [...gap, ...aboveInput(input, width, rows - foot.lines.length - gap.length, spinner)];
  const cursor = foot.cursor === undefined ? undefined : { row: above.length + foot.cursor.row, column: foot.cursor.column };
  // A line that the terminal would break itself puts every row below it somewhere else.
  return { lines: [...above, ...foot.lines].map((l) => cut(l, width)), cursor };
}

function aboveInput({ state, now }: ViewInput, width: number, room: number, spinner: string): Line[] {
  const running = state.calls.filter((c) => c.ok === undefined && c.tool !== "spawn_agent" && state.agents.find((a) => a.span === c.span)?.depth === 0);
  const calls = state.working === undefined || state.questions.length > 0 ? [] : running.map((c) => runningLine(c, now, spinner, width));
  const tree = agentTree(state, now, spinner, width);
  const queued = state.queued.map((q) => cut([span("  ↳ ", "blue"), span(inertLine(q, 200)), span(state.working === undefined ? "" : "  waits for the next step", "dim")], width));
  const fixed = [...calls, ...tree, ...queued];
  const plan = state.plan.length === 0 ? [] : planLines(state.plan, width, Math.max(2, Math.min(10, room - fixed.length - 3)));
  const parts = [...withGap(plan), ...withGap(fixed)];
  const tail = replyTail(state, width, Math.max(0, room - parts.length - 1));
  return [...tail, ...parts].slice(-Math.max(0, room));
}

function withGap(lines: readonly Line[]): Line[] {
  return lines.length === 0 ? [] : [...lines, []];
}

function replyTail(state: ChatState, width: number, room: number): Line[] {
  const text = state.reply.text.slice(state.reply.printed);
  if (text.trim() === "" || room < 1) return [];
  return withGap(renderMarkdown(text, width).slice(-room));
}

const MOST_INPUT_LINES = 8;

function inputView({ state, focus, model, now }: ViewInput, width: number, spinner: string): Frame {
  const { lines, cursor } = focus.editor.layout(Math.max(8, width - 3));
  const from = Math.max(0, Math.min(cursor.row - MOST_INPUT_LINES + 1, lines.length - MOST_INPUT_LINES));
  const placeholder = focus.editor.isEmpty() ? (state.working === undefined ? "ask, or /help" : "type to steer; it is heard at the next step") : "";
  const input = lines.slice(from, from + MOST_INPUT_LINES).map((l, i): Line => [span(i + from === 0 ? "› " : "  ", "blue"), span(l), span(placeholder, "dim")]);
  return {
    lines: [line("─".repeat(width), "dim"), ...input, ...menuLines(focus.menu, width), statusLine(state, focus, model, now, width, spinner)],
    cursor: { row: 1 + cursor.row - from, column: cursor.column + 2 },
  };
}

const MOST_MENU_LINES = 7;

function menuLines(menu: Menu | undefined, width: number): Line[] {
  if (menu === undefined) return [];
  const { items, chosen } = menu;
  const from = Math.max(0, Math.min(chosen - Math.floor(MOST_MENU_LINES / 2), items.length - MOST_MENU_LINES));
  const shown = items.slice(from, from + MOST_MENU_LINES);
  const column = Math.max(...shown.map((item) => displayWidth(inertLine(item.text))));
  return shown.map(({ text, about }, i): Line => {
    const name = inertLine(text);
    const here = from + i === chosen;
    return cut([span(here ? "  ▸ " : "    ", "yellow"), span(name, ...(here ? (["bold"] as const) : [])), span(about === "" ? "" : `${" ".repeat(column - displayWidth(name))}  ${about}`, "dim")], width);
  });
}

function statusLine(state: ChatState, focus: Focus, model: string, now: number, width: number, spinner: string): Line {
  const roomForModel = width >= (state.working === undefined ? 60 : 90);
  const figures = [...(roomForModel ? [inertLine(model, 40)] : []), ...(width < 45 || state.tokens === 0 ? [] : [`${shortCount(state.tokens)} tok`]), `${cost(state.costUsd)}${state.estimated ? " estimated" : ""}`];
  const right = model === "" ? [] : [span(figures.join(" · "), "dim")];
  if (focus.hint !== "") return spread([span(`  ${focus.hint}`, "yellow")], right, width);
  if (focus.menu !== undefined) return spread([span("  ↑↓ choose · Tab takes it · Esc closes", "dim")], right, width);
  if (state.working === undefined) return spread([span("  /help · Ctrl-D leaves", "dim")], right, width);
  const children = liveChildren(state).length;
  const writing = state.reply.text !== "" && state.working.doing === "thinking";
  const doing = children > 0 ? `${children} ${children === 1 ? "agent" : "agents"} at work` : state.reply.thinking ? "thinking" : writing ? "writing" : state.working.doing;
  return spread([span(`${spinner} `, "yellow"), span(`${doing} ${Math.floor((now - state.working.since) / 1000)} s`), span("  Esc stops · Ctrl-O calls", "dim")], right, width);
}

function callsPanel(state: ChatState, panel: { back: number; scroll: number }, width: number, rows: number): Frame {
  const call = state.calls.at(-1 - panel.back);
  const keys = keyLines([["←→", "other calls"], ["↑↓", "scroll"], ["Esc", "close"]], width);
  if (call === undefined) return { lines: [line("  no tool was called yet", "dim"), ...keys], cursor: undefined };
  const body = detailLines(call, width - 2);
  const room = Math.max(1, rows - 2 - keys.length);
  panel.scroll = Math.max(0, Math.min(panel.scroll, body.length - room));
  const shown = body.slice(panel.scroll, panel.scroll + room).map((l): Line => [span("  "), ...l]);
  return { lines: [callTitle(call, state.calls.length - panel.back, state.calls.length, width), ...shown, ...keys], cursor: undefined };
}

function callTitle(call: Call, number: number, total: number, width: number): Line {
  const rest = ` ${number} of ${total} · ${inertLine(call.agent, 40)} `;
  const name = inertLine(call.tool, 40);
  return cut([span("── ", "cyan"), span(name, "cyan", "bold"), span(rest, "cyan"), span("─".repeat(Math.max(0, width - 4 - name.length - rest.length)), "cyan")], width);
}
