import { inertLine } from "../../lib/inert.ts";
import { foreignLines } from "./call-lines.ts";
import { allowsAll, changed, type Dialog, parametersOf } from "./dialog.ts";
import { cut, type Line, line, lineWidth, span, type Span, spread, wrap } from "./line.ts";
import { renderMarkdown } from "./markdown.ts";
import type { Frame } from "./screen.ts";

const TITLES: Record<string, string> = {
  approval: "Approval needed", permission: "Permission needed", question: "Question", guidance: "Guidance needed", merge: "Merge", budget: "Budget",
};

export type DialogView = { width: number; rows: number; now: number; more: number; armed: boolean };

/** The dialog in at most `rows` lines: title, what, how bad, the body as far as there is room, and the keys. */
export function dialogView(dialog: Dialog, view: DialogView): Frame {
  const { question } = dialog.pending;
  const head: Line[] = [titleLine(dialog, view), ...wrap([span("  "), span(inertLine(question.title, 400), "bold")], view.width, [span("  ")]).slice(0, 4)];
  if (question.kind === "approval" || question.kind === "permission") {
    const grant = question.grant === null || changed(dialog) ? [] : [span(`  s allows: ${inertLine(question.grant, 200)}`, "dim")];
    head.push(cut(question.reversible ? [span("  reversible", "green"), ...grant] : [span("  ⚠ cannot be undone", "red", "bold")], view.width));
  }
  const foot = footOf(dialog, view);
  const body = bodyOf(dialog, view.width - 2);
  const room = Math.max(1, view.rows - head.length - foot.lines.length - 3);
  dialog.scroll = Math.min(dialog.scroll, Math.max(0, body.length - room));
  const shown = body.slice(dialog.scroll, dialog.scroll + room).map((l): Line => [span("  "), ...l]);
  const rest = body.length - dialog.scroll - room;
  const gap: Line = rest > 0 || dialog.scroll > 0 ? line(rest > 0 ? `  … ${rest} more ${rest === 1 ? "line" : "lines"}, ↓ scrolls` : "  ↑ scrolls back", "dim") : [];
  const lines = [...head, ...(shown.length === 0 ? [] : [[]]), ...shown, ...(shown.length === 0 ? [] : [[]]), ...(gap.length === 0 ? [] : [gap]), ...foot.lines];
  const cursor = foot.cursor === undefined ? undefined : { row: lines.length - foot.lines.length + foot.cursor.row, column: foot.cursor.column };
  return { lines, cursor };
}

function titleLine(dialog: Dialog, { width, now, more }: DialogView): Line {
  const { question, openedMs } = dialog.pending;
  const left = question.time_left_ms === null ? undefined : Math.max(0, question.time_left_ms - (now - openedMs));
  const clock = left === undefined ? "" : ` ${Math.floor(left / 60_000)}:${String(Math.floor(left / 1000) % 60).padStart(2, "0")} left`;
  const others = more > 0 ? ` · ${more} more` : "";
  const title = [span("── ", "yellow"), span(TITLES[question.kind] ?? question.kind, "yellow", "bold"), span(` · ${inertLine(question.agent, 40)}${others} `, "yellow")];
  const end = clock === "" ? [] : [span(`${clock} `, "dim"), span("──", "yellow")];
  const shown = cut(title, width - lineWidth(end));
  const fill = Math.max(0, width - lineWidth(shown) - lineWidth(end));
  return [...shown, span("─".repeat(fill), "yellow"), ...end];
}

function bodyOf(dialog: Dialog, width: number): Line[] {
  const { question } = dialog.pending;
  if (dialog.mode === "fields" || dialog.mode === "value") return parameterLines(dialog, width);
  const options = question.kind === "question" ? question.options.map((o, i): Line => [span(`${i + 1} `, "cyan"), span(inertLine(o, 200))]) : [];
  const text = (dialog.preview ?? question.body).trim();
  const body = text === "" ? [] : foreignLines(text, width);
  const changes = Object.entries(dialog.set).map(([k, v]): Line => [span("changed ", "yellow"), span(`${inertLine(k, 40)}: `, "cyan"), span(inertLine(JSON.stringify(v) ?? "", width))]);
  const talk = dialog.talk.flatMap(({ question: asked, answer }): Line[] => [
    [],
    [span("you asked: ", "blue"), span(inertLine(asked, width))],
    ...(answer === undefined ? [line("… the agent answers", "dim")] : renderMarkdown(answer, width)),
  ]);
  return [...changes, ...(changes.length === 0 ? [] : [[]]), ...body, ...options, ...talk];
}

function parameterLines(dialog: Dialog, width: number): Line[] {
  return parametersOf(dialog).map(([name, value], i): Line => {
    const chosen = i === dialog.field;
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    const mark: Span[] = Object.hasOwn(dialog.set, name) ? [span("  changed", "yellow")] : [];
    return spread([span(chosen ? "▸ " : "  ", "yellow"), span(`${inertLine(name, 40)}: `, "cyan"), span(inertLine(text, 300), ...(chosen ? (["bold"] as const) : []))], mark, width);
  });
}

const PROMPTS = { deny: "Why not? (the agent is told)", confirm: "", value: "New value", ask: "What do you want to know?", words: "Your answer", choose: "", fields: "" };

function footOf(dialog: Dialog, { width, armed }: DialogView): Frame {
  const { question } = dialog.pending;
  const fault: Line[] = dialog.fault === "" ? [] : wrap([span("  ✗ ", "red"), span(inertLine(dialog.fault, 300), "red")], width);
  if (!armed) return { lines: keyLines([["…", "one moment"]], width), cursor: undefined };
  if (dialog.mode === "choose") return { lines: [...fault, ...keyLines(chooseKeys(dialog), width)], cursor: undefined };
  if (dialog.mode === "fields") return { lines: [...fault, ...keyLines([["↑↓", "choose"], ["Enter", "edit"], ["a", changed(dialog) ? "approve with the changes" : "approve"], ["Esc", "back"]], width)], cursor: undefined };
  const prompt = dialog.mode === "confirm" ? `Type ${inertLine(question.confirm_word ?? "", 60)} to approve` : PROMPTS[dialog.mode];
  const { lines, cursor } = dialog.editor.layout(Math.max(8, width - 4));
  const from = Math.max(0, Math.min(cursor.row - 4, lines.length - 5));
  const input = lines.slice(from, from + 5).map((l, i): Line => [span(i + from === 0 ? "  › " : "    ", "yellow"), span(l)]);
  const done = dialog.mode === "deny" ? "deny" : dialog.mode === "value" ? "set" : "send";
  const head = [...fault, line(`  ${prompt}`, "bold")];
  return {
    lines: [...head, ...input, ...keyLines([["Enter", done], ["Alt+Enter", "new line"], ["Esc", dialog.mode === "words" ? "stop the work" : "back"]], width)],
    cursor: { row: head.length + cursor.row - from, column: cursor.column + 4 },
  };
}

function chooseKeys(dialog: Dialog): (readonly [string, string])[] {
  const { grant } = dialog.pending.question;
  return [
    ["a", changed(dialog) ? "approve with the changes" : "approve"],
    ...(allowsAll(dialog) ? [["s", "allow all of this kind"] as const] : []),
    ...(grant === null || changed(dialog) ? [] : [["s", "for this session"] as const]),
    ["d", "deny"],
    ...(parametersOf(dialog).length > 0 ? [["e", "edit"] as const] : []),
    ...(dialog.pending.explain === undefined ? [] : [["?", "ask first"] as const]),
    ["Esc", "stop"],
  ];
}

/** As many to a line as fit: a key that is not shown cannot be found. */
export function keyLines(keys: readonly (readonly [string, string])[], width: number): Line[] {
  const lines: Span[][] = [];
  for (const [key, what] of keys) {
    const one = [span(key, "bold"), span(` ${what}`, "dim")];
    const last = lines.at(-1);
    if (last !== undefined && lineWidth(last) + 3 + lineWidth(one) <= width) last.push(span("   "), ...one);
    else lines.push([span("  "), ...one]);
  }
  return lines.map((l) => cut(l, width));
}
