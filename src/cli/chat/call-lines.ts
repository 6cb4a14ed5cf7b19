import { inert, inertLine } from "../../lib/inert.ts";
import type { Call } from "./chat-state.ts";
import { diffLine, looksLikeDiff } from "./highlight.ts";
import { countLines } from "../../lib/diff.ts";
import { chop, cut, type Line, line, lineWidth, span, spread, wrap } from "./line.ts";

/** A call on one line, below it why it failed or what it changed; with `open` also what went in and what came out. */
export function callLines(call: Call, width: number, open: boolean): Line[] {
  const mark = call.ok === undefined ? span("  · ", "dim") : call.ok ? span("  ✓ ", "green") : span("  ✗ ", "red");
  const changed = call.diff === undefined ? [] : [span(`  ${countLines(call.diff)}`, "dim")];
  const head: Line = [mark, span(inertLine(call.tool, 40)), span(`  ${argument(call)}`, "dim"), ...changed];
  const time = call.ok === undefined ? [] : [span(` ${duration(call.durationMs)}`, "dim")];
  const why = call.ok === false ? span(inertLine(call.output, 400), "red") : undefined;
  // One line per event where lines have no end.
  if (!Number.isFinite(width)) return [spread(why === undefined ? head : [...head, span("  "), why], time, width)];
  const below = open ? detailLines(call, width - 4).slice(0, MOST_OPEN) : why !== undefined ? wrap([why], width - 4).slice(0, MOST_WHY) : changeLines(call.diff, width - 4);
  return [spread(head, time, width), ...below.map((l): Line => [span("    "), ...l])];
}

/** The beginning of what a call changed; Ctrl-O has the rest. */
function changeLines(diff: string | undefined, width: number): Line[] {
  if (diff === undefined) return [];
  // Below the call's own line its two headers say nothing new.
  const lines = inert(diff).replaceAll("\t", "  ").trimEnd().split("\n").slice(2);
  const shown = lines.length > MOST_CHANGED + 1 ? lines.slice(0, MOST_CHANGED) : lines;
  const rest = lines.length - shown.length;
  return [...shown.map((l) => cut(diffLine(l), width)), ...(rest === 0 ? [] : [line(`… ${rest} more lines, Ctrl-O shows them`, "dim")])];
}

/** Everything about a call, for the panel that opens it. */
export function detailLines(call: Call, width: number): Line[] {
  return [
    ...inputLines(call.input, width),
    ...(call.ok === undefined ? [] : [line(call.ok ? "result" : "failed", call.ok ? "green" : "red"), ...foreignLines(call.output, width)]),
    ...(call.diff === undefined ? [] : [line("changed", "green"), ...foreignLines(call.diff, width)]),
  ];
}

/** Foreign text as it is, line by line; a diff in colour. */
export function foreignLines(text: string, width: number): Line[] {
  const diff = looksLikeDiff(text);
  return inert(text).replaceAll("\t", "  ").replace(/\n+$/, "").split("\n").flatMap((l) => chop(diff ? diffLine(l) : line(l), Math.max(8, width)));
}

/** Each parameter with its name; a long text below it. */
export function inputLines(input: unknown, width: number): Line[] {
  if (typeof input !== "object" || input === null) return foreignLines(JSON.stringify(input) ?? "", width);
  return Object.entries(input).flatMap(([key, value]): Line[] => {
    const name = span(`${inertLine(key, 40)}: `, "cyan");
    const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
    if (!text.includes("\n") && lineWidth([name, span(text)]) <= width) return [[name, span(inert(text))]];
    return [[name], ...foreignLines(text, width - 2).map((l): Line => [span("  "), ...l])];
  });
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = ms / 1000;
  return s < 60 ? `${s.toFixed(s < 10 ? 1 : 0)} s` : `${Math.floor(s / 60)}:${String(Math.floor(s % 60)).padStart(2, "0")} min`;
}

/** What tells one call of a tool from another. */
export function argument(call: Pick<Call, "input">): string {
  const { input } = call;
  if (typeof input !== "object" || input === null) return inertLine(JSON.stringify(input) ?? "", 120);
  const [first] = Object.values(input).filter((v) => typeof v === "string" || typeof v === "number");
  return inertLine(first === undefined ? (JSON.stringify(input) ?? "") : String(first), 120);
}

const MOST_OPEN = 30;
const MOST_CHANGED = 12;
const MOST_WHY = 3;

export function runningLine(call: Call, now: number, spinner: string, width: number): Line {
  return cut([span(`  ${spinner} `, "yellow"), span(inertLine(call.tool, 40)), span(`  ${argument(call)}`, "dim"), span(`  ${Math.floor((now - call.startedMs) / 1000)} s`, "dim")], width);
}
