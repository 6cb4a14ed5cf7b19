import { characterWidth, displayWidth } from "../display-width.ts";

/** What the screen shows is made of spans, and only at the very end of escape sequences: foreign text is never mixed with them. */
export type Style = "bold" | "dim" | "italic" | "underline" | "inverse" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan";
export type Span = { text: string; style?: readonly Style[] };
export type Line = readonly Span[];

const CODES: Record<Style, number> = { bold: 1, dim: 2, italic: 3, underline: 4, inverse: 7, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 };

export function span(text: string, ...style: Style[]): Span {
  return style.length === 0 ? { text } : { text, style };
}

export function line(text: string, ...style: Style[]): Line {
  return [span(text, ...style)];
}

/** Without `colour` (NO_COLOR, plain mode) the text alone. */
export function paint(spans: Line, colour: boolean): string {
  return spans
    .map(({ text: whole, style }) => {
      // Terminals do not agree whether it makes the sign before it wider.
      const text = whole.replaceAll("\ufe0f", "");
      return !colour || style === undefined || text === "" ? text : `\u001b[${style.map((s) => CODES[s]).join(";")}m${text}\u001b[0m`;
    })
    .join("");
}

export function plainText(spans: Line): string {
  return spans.map((s) => s.text).join("");
}

export function lineWidth(spans: Line): number {
  return spans.reduce((sum, s) => sum + displayWidth(s.text), 0);
}

/** The same line in at most `width` columns, with … where something is left out. */
export function cut(spans: Line, width: number): Line {
  if (lineWidth(spans) <= width) return spans;
  const kept: Span[] = [];
  let left = Math.max(0, width - 1);
  for (const one of spans) {
    let text = "";
    for (const character of one.text) {
      const w = characterWidth(character);
      if (w > left) return [...kept, { ...one, text: `${text}…` }];
      left -= w;
      text += character;
    }
    kept.push({ ...one, text });
  }
  return kept;
}

/** Left and right on one line; the left part gives way. Without a width there is no right side: it follows. */
export function spread(left: Line, right: Line, width: number): Line {
  if (!Number.isFinite(width)) return right.length === 0 ? left : [...left, span(" "), ...right];
  const room = width - lineWidth(right);
  if (room < 8) return cut(left, width);
  const shown = cut(left, room - 1);
  return [...shown, span(" ".repeat(room - lineWidth(shown))), ...right];
}

/** Breaks at spaces, and inside a word only when it is longer than the line. `hang` stands before every line but the first. */
export function wrap(spans: Line, width: number, hang: Line = []): Line[] {
  const cells = spans.flatMap((s) => [...s.text].map((c) => ({ c, w: characterWidth(c), style: s.style })));
  const indent = lineWidth(hang);
  const lines: Line[] = [];
  let from = 0;
  while (from < cells.length || lines.length === 0) {
    const room = Math.max(4, lines.length === 0 ? width : width - indent);
    let [end, used, space] = [from, 0, -1];
    while (end < cells.length && used + (cells[end]?.w ?? 0) <= room) {
      if (cells[end]?.c === " ") space = end;
      used += cells[end]?.w ?? 0;
      end++;
    }
    const full = end < cells.length;
    const stop = full && cells[end]?.c !== " " && space > from ? space : end;
    lines.push([...(lines.length === 0 ? [] : hang), ...joined(cells.slice(from, stop))]);
    from = stop;
    if (full) while (cells[from]?.c === " ") from++;
  }
  return lines;
}

/** Breaks anywhere, so that nothing of it is lost: for code, where spaces count. */
export function chop(spans: Line, width: number): Line[] {
  const lines: Line[] = [];
  let row: { c: string; style: readonly Style[] | undefined }[] = [];
  let used = 0;
  for (const one of spans) {
    for (const c of one.text) {
      const w = characterWidth(c);
      if (used + w > width && used > 0) {
        lines.push(joined(row));
        [row, used] = [[], 0];
      }
      row.push({ c, style: one.style });
      used += w;
    }
  }
  return [...lines, joined(row)];
}

function joined(cells: readonly { c: string; style: readonly Style[] | undefined }[]): Span[] {
  const spans: Span[] = [];
  for (const { c, style } of cells) {
    const last = spans.at(-1);
    if (last !== undefined && last.style === style) last.text += c;
    else spans.push(style === undefined ? { text: c } : { text: c, style });
  }
  return spans;
}

/** Long lines are broken at words, below their own beginning. */
export function fitted(one: Line, width: number): Line[] {
  if (lineWidth(one) <= width) return [one];
  const [indent = ""] = /^\s*/.exec(plainText(one)) ?? [];
  return wrap(one, width, [span(indent)]);
}
