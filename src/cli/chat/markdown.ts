import { inert } from "../../lib/inert.ts";
import { highlightCode } from "./highlight.ts";
import { chop, cut, type Line, lineWidth, type Span, span, type Style, wrap } from "./line.ts";

/** Markdown of a model as lines for a terminal. Everything in it is foreign: it is made inert before anything else. */
export function renderMarkdown(text: string, width: number): Line[] {
  const source = inert(text).replaceAll("\t", "  ").split("\n");
  const lines: Line[] = [];
  for (let i = 0; i < source.length; ) {
    const block = blockAt(source, i, width);
    lines.push(...block.lines);
    i = block.next;
  }
  return trimBlank(lines);
}

/** Where a text that still grows can be cut: behind its last block that will not change any more. */
export function stableLength(text: string): number {
  let fence: string | undefined;
  let stable = 0;
  let at = 0;
  for (const raw of text.split("\n")) {
    const next = at + raw.length + 1;
    const mark = FENCE.exec(raw);
    if (fence !== undefined) {
      if (mark?.[1]?.startsWith(fence) === true && mark[2]?.trim() === "") {
        fence = undefined;
        if (next <= text.length) stable = next;
      }
    } else if (mark !== null) fence = mark[1];
    else if (raw.trim() === "" && next <= text.length) stable = next;
    at = next;
  }
  return stable;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;

type Block = { lines: Line[]; next: number };

function blockAt(source: readonly string[], i: number, width: number): Block {
  const text = source[i] ?? "";
  const fence = FENCE.exec(text);
  if (fence !== null) return codeBlock(source, i, fence[1] ?? "```", (fence[2] ?? "").trim(), width);
  if (text.trim() === "") return { lines: [[]], next: i + 1 };
  const heading = HEADING.exec(text);
  if (heading !== null) return { lines: wrap(inline(heading[2] ?? "", ["bold", "cyan"]), width), next: i + 1 };
  if (RULE.test(text)) return { lines: [[span("─".repeat(Math.min(width, 40)), "dim")]], next: i + 1 };
  if (text.includes("|") && TABLE_RULE.test(source[i + 1] ?? "")) return table(source, i, width);
  const item = ITEM.exec(text);
  if (item !== null) {
    const body = paragraph(source, i + 1, item[3] ?? "");
    const [, spaces = "", mark = "-"] = item;
    const bullet = `${spaces.slice(0, 12)}${/\d/.test(mark) ? mark : "•"} `;
    const [box, rest] = checkbox(body.text);
    const lead: Line = [span(bullet, "dim"), ...box];
    return { lines: wrap([...lead, ...inline(rest)], width, [span(" ".repeat(lineWidth(lead)))]), next: body.next };
  }
  const quote = QUOTE.exec(text);
  if (quote !== null) {
    const bar = span("│ ", "dim");
    return { lines: wrap(inline(quote[1] ?? "", ["italic"]), Math.max(8, width - 2)).map((l) => [bar, ...l]), next: i + 1 };
  }
  const body = paragraph(source, i + 1, text.trim());
  return { lines: wrap(inline(body.text), width), next: body.next };
}

function checkbox(text: string): [Span[], string] {
  const box = /^\[([ xX])\]\s+/.exec(text);
  if (box === null) return [[], text];
  return [[box[1] === " " ? span("☐ ", "dim") : span("☑ ", "green")], text.slice(box[0].length)];
}

/** Lines that belong to the same paragraph are one text. */
function paragraph(source: readonly string[], from: number, first: string): { text: string; next: number } {
  let [text, next] = [first, from];
  for (; next < source.length; next++) {
    const more = source[next] ?? "";
    if (more.trim() === "" || FENCE.test(more) || HEADING.test(more) || ITEM.test(more) || QUOTE.test(more) || RULE.test(more)) break;
    text += ` ${more.trim()}`;
  }
  return { text, next };
}

function codeBlock(source: readonly string[], start: number, fence: string, language: string, width: number): Block {
  let end = start + 1;
  while (end < source.length && !closes(source[end] ?? "", fence)) end++;
  const code = highlightCode(source.slice(start + 1, end), language);
  return { lines: code.flatMap((l) => chop(l, Math.max(8, width - 2)).map((part) => [span("  "), ...part])), next: Math.min(end + 1, source.length) };
}

function closes(text: string, fence: string): boolean {
  const mark = FENCE.exec(text);
  return mark?.[1]?.startsWith(fence) === true && mark[2]?.trim() === "";
}

function table(source: readonly string[], start: number, width: number): Block {
  const rows: string[][] = [];
  let next = start;
  for (; next < source.length && (source[next] ?? "").includes("|"); next++) {
    if (next !== start + 1) rows.push((source[next] ?? "").trim().replace(/^\||\|$/g, "").split("|").map((c) => c.trim()));
  }
  const cells = rows.map((row, r) => row.map((c) => inline(c, r === 0 ? ["bold"] : [])));
  const columns = Math.max(...cells.map((r) => r.length));
  const wanted = Array.from({ length: columns }, (_, c) => Math.max(...cells.map((r) => lineWidth(r[c] ?? []))));
  const widths = fit(wanted, width - GUTTER * (columns - 1));
  return { lines: cells.flatMap((row) => tableRow(row, widths).map((l) => cut(l, width))), next };
}

const GUTTER = 2;
const NARROWEST = 6;

/** The widest columns give way until all fit; none below what can still be read. */
function fit(wanted: readonly number[], room: number): number[] {
  const widths = [...wanted];
  for (let over = widths.reduce((a, b) => a + b, 0) - room; over > 0; ) {
    const widest = Math.max(...widths);
    const next = Math.max(NARROWEST, ...widths.filter((w) => w < widest));
    if (widest <= NARROWEST) break;
    const at = widths.flatMap((w, i) => (w === widest ? [i] : []));
    const less = Math.min(widest - next, Math.ceil(over / at.length)) || 1;
    for (const i of at) widths[i] = widest - less;
    over -= less * at.length;
  }
  return widths;
}

function tableRow(row: readonly Span[][], widths: readonly number[]): Line[] {
  const parts = widths.map((w, i) => (lineWidth(row[i] ?? []) <= w ? [row[i] ?? []] : wrap(row[i] ?? [], w)));
  const height = Math.max(...parts.map((p) => p.length));
  return Array.from({ length: height }, (_, n) =>
    widths.flatMap((w, i): Span[] => {
      const cell = parts[i]?.[n] ?? [];
      return i === widths.length - 1 ? [...cell] : [...cell, span(" ".repeat(Math.max(0, w - lineWidth(cell)) + GUTTER))];
    }),
  );
}

const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|(?<![\w*])\*([^*\s](?:[^*]*[^*\s])?)\*(?!\w)|\[([^\]]+)\]\(([^)\s]+)\)/g;

function inline(text: string, style: Style[] = []): Span[] {
  const spans: Span[] = [];
  let at = 0;
  const add = (t: string, more: Style[]): void => void (t !== "" && spans.push(span(t, ...style, ...more)));
  for (const match of text.matchAll(INLINE)) {
    add(text.slice(at, match.index), []);
    const [all, , code, strong, strong2, emphasis, label, url] = match;
    if (code !== undefined) add(code, ["cyan"]);
    else if (strong !== undefined || strong2 !== undefined) spans.push(...inline(strong ?? strong2 ?? "", [...style, "bold"]));
    else if (emphasis !== undefined) spans.push(...inline(emphasis, [...style, "italic"]));
    else {
      add(label ?? "", ["underline"]);
      // A label may say anything: the address is always shown.
      if (url !== label) add(` (${url ?? ""})`, ["dim"]);
    }
    at = match.index + all.length;
  }
  add(text.slice(at), []);
  return spans;
}

/** No empty lines at the ends, and never two in a row. */
function trimBlank(lines: readonly Line[]): Line[] {
  const kept = lines.filter((l, i) => l.length > 0 || (i > 0 && (lines[i - 1]?.length ?? 0) > 0));
  return kept.at(-1)?.length === 0 ? kept.slice(0, -1) : kept;
}
