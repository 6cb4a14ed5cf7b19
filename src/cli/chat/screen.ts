import { lineWidth, type Line, paint } from "./line.ts";

export type Cursor = { row: number; column: number };
export type Frame = { lines: readonly Line[]; cursor: Cursor | undefined };

export type ScreenDeps = { write(text: string): void; columns(): number; colour: boolean };

/**
 * The part of the terminal that changes: it stands below everything that was printed, and only lines that differ are written again,
 * inside one synchronised update, so that nothing flickers. What is printed belongs to the terminal's own scrollback.
 */
export type Screen = {
  draw(frame: Frame): void;
  print(lines: readonly Line[], frame: Frame): void;
  /** The terminal has another width: what stands there was broken anew by it. */
  resized(frame: Frame): void;
  /** Leaves the cursor below what was printed. */
  clear(): void;
};

const [BEGIN, END] = ["\u001b[?2026h\u001b[?25l", "\u001b[?2026l"];

export function createScreen({ write, columns, colour }: ScreenDeps): Screen {
  let drawn: { text: string; width: number }[] = [];
  let at: Cursor = { row: 0, column: 0 };

  const shown = (one: Line): { text: string; width: number } => ({ text: paint(one, colour), width: lineWidth(one) });

  /** From the cursor to the first line of the region, as it stands in a terminal of this width. */
  const home = (width: number): string => {
    const above = drawn.slice(0, at.row).reduce((rows, l) => rows + rowsOf(l.width, width), 0) + Math.floor(at.column / Math.max(1, width));
    return above === 0 ? "\r" : `\r\u001b[${above}A`;
  };

  const place = (frame: Frame, count: number): string => {
    const last = Math.max(0, count - 1);
    const cursor = frame.cursor ?? { row: last, column: 0 };
    at = { row: Math.min(cursor.row, last), column: cursor.column };
    const up = last - at.row;
    return `${up === 0 ? "" : `\u001b[${up}A`}\r${at.column === 0 ? "" : `\u001b[${at.column}C`}${frame.cursor === undefined ? "" : "\u001b[?25h"}`;
  };

  const full = (frame: Frame): string => {
    const next = frame.lines.map(shown);
    drawn = next;
    return `${next.map((l) => l.text).join("\r\n")}${place(frame, next.length)}`;
  };

  return {
    draw(frame) {
      const next = frame.lines.map(shown);
      const same = next.length === drawn.length && next.every((l, i) => l.text === drawn[i]?.text);
      if (same && frame.cursor?.row === at.row && frame.cursor.column === at.column) return;
      const parts = [home(columns())];
      if (!same) {
        for (const [i, l] of next.entries()) {
          if (i > 0) parts.push("\r\n");
          if (l.text !== drawn[i]?.text) parts.push(`${l.text}\u001b[K`);
        }
        if (next.length < drawn.length) parts.push(next.length === 0 ? "\u001b[J" : "\r\n\u001b[J\u001b[A");
      } else if (next.length > 1) parts.push(`\u001b[${next.length - 1}B`);
      drawn = next;
      write(`${BEGIN}${parts.join("")}${place(frame, next.length)}${END}`);
    },
    print(lines, frame) {
      const above = lines.map((l) => `${paint(l, colour)}\r\n`).join("");
      write(`${BEGIN}${home(columns())}\u001b[J${above}${full(frame)}${END}`);
    },
    resized(frame) {
      write(`${BEGIN}${home(columns())}\u001b[J${full(frame)}${END}`);
    },
    clear() {
      write(`${home(columns())}\u001b[J\u001b[?25h`);
      drawn = [];
      at = { row: 0, column: 0 };
    },
  };
}

function rowsOf(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / Math.max(1, columns)));
}
