import type { Problem } from "../contract/problem.ts";
import { problemText } from "../contract/problem.ts";
import { inertLine } from "../lib/inert.ts";
import type { CommandInput, Io } from "./command.ts";
import { displayWidth } from "./display-width.ts";

/** JSON that is also harmless on a terminal: what could move the cursor or reorder text is escaped, nothing is lost. */
export function printJson(io: Pick<Io, "out">, value: unknown): void {
  io.out(`${JSON.stringify(value, null, 2).replace(ACTIVE, escaped)}\n`);
}

const ACTIVE = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

function escaped(characters: string): string {
  return Array.from({ length: characters.length }, (_, i) => `\\u${characters.charCodeAt(i).toString(16).padStart(4, "0")}`).join("");
}

/** One line per problem, as editors and CI read it. */
export function problemLine(problem: Problem): string {
  return inertLine(problemText(problem));
}

/** What is wrong with definitions that others than this command care about: errors one by one, mere warnings counted. */
export function warnProblems(io: Pick<Io, "err">, problems: readonly Problem[], remedy: string): void {
  for (const problem of problems) if (problem.severity === "error") io.err(`warning: ${problemLine(problem)}\n`);
  const warnings = problems.filter((p) => p.severity === "warning").length;
  if (warnings > 0) io.err(`note: ${warnings} ${warnings === 1 ? "smaller problem" : "smaller problems"} in definitions; ${remedy} shows ${warnings === 1 ? "it" : "them"}\n`);
}

/** Rows under headings, columns as wide as they must be; the last one takes what is left of the width. */
export function tableLines(headings: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  const cells = [headings, ...rows.map((row) => row.map((cell) => inertLine(cell)))];
  const last = headings.length - 1;
  const widths = headings.map((_, column) => Math.min(MOST, Math.max(...cells.map((row) => displayWidth(row[column] ?? "")))));
  const used = widths.slice(0, last).reduce((sum, w) => sum + w + GAP.length, 0);
  return cells.map((row) =>
    row.map((cell, column) => (column === last ? inertLine(cell, Math.max(20, width - used)) : padded(inertLine(cell, widths[column]), widths[column] ?? 0))).join(GAP).trimEnd(),
  );
}

const GAP = "  ";
const MOST = 40;

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - displayWidth(text)));
}

/** A line for programs: fields between tabs, nothing in them that could be mistaken for one. */
export function tabbed(fields: readonly string[]): string {
  let line = "";
  for (const field of fields) line += `${isPlain(field) ? field : inertLine(field)}\t`;
  return `${line.slice(0, -1)}\n`;
}

/** Nothing to escape or to fold; most fields are like this, and there may be thousands. A loop, because compiling the expression costs milliseconds. */
function isPlain(text: string): boolean {
  let space = true;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code > 0x7e || (code === 0x20 && space)) return false;
    space = code === 0x20;
  }
  return text === "" || !space;
}

export function dim(text: string, input: Pick<CommandInput, "env" | "io">): string {
  const plain = !input.io.outIsTerminal || (input.env.NO_COLOR ?? "") !== "" || input.env.TERM === "dumb";
  return plain ? text : `\u001b[2m${text}\u001b[22m`;
}
