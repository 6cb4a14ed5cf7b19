import { inert, inertLine } from "../../lib/inert.ts";
import type { Call } from "./chat-state.ts";
import { diffLine, looksLikeDiff } from "./highlight.ts";
import { chop, cut, type Line, line, lineWidth, span, spread } from "./line.ts";

/** A call on one line; with `open` also what went in and what came out. */
export function callLines(call: Call, width: number, open: boolean): Line[] {
  const mark = call.ok === undefined ? span("  · ", "dim") : call.ok ? span("  ✓ ", "green") : span("  ✗ ", "red");
  const said = call.ok === false ? [span(`  ${inertLine(call.output, 160)}`, "red")] : [span(`  ${argument(call)}`, "dim")];
  const head = spread([mark, span(inertLine(call.tool, 40)), ...said], call.ok === undefined ? [] : [span(` ${duration(call.durationMs)}`, "dim")], width);
  return open ? [head, ...detailLines(call, width - 4).slice(0, MOST_OPEN).map((l): Line => [span("    "), ...l])] : [head];
}

/** Everything about a call, for the panel that opens it. */
export function detailLines(call: Call, width: number): Line[] {
  return [
    ...inputLines(call.input, width),
    ...(call.ok === undefined ? [] : [line(call.ok ? "result" : "failed", call.ok ? "green" : "red"), ...foreignLines(call.output, width)]),
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

export function runningLine(call: Call, now: number, spinner: string, width: number): Line {
  return cut([span(`  ${spinner} `, "yellow"), span(inertLine(call.tool, 40)), span(`  ${argument(call)}`, "dim"), span(`  ${Math.floor((now - call.startedMs) / 1000)} s`, "dim")], width);
}
