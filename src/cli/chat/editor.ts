import { inert } from "../../lib/inert.ts";
import { characterWidth } from "../display-width.ts";
import type { Key } from "./keys.ts";
import type { Cursor } from "./screen.ts";

/**
 * Text that is being written. A large paste is one character of it, out of a range that nobody types, shown as a placeholder and
 * sent whole.
 */
export type Editor = {
  /** True when the key was used. */
  press(key: Key): boolean;
  /** What was written, pastes in full. */
  text(): string;
  isEmpty(): boolean;
  set(text: string): void;
  /** What stands before the cursor. */
  before(): string;
  /** Puts `text` in place of the last `count` characters before the cursor. */
  replace(count: number, text: string): void;
  /** Lines of at most `width` columns, and where the cursor stands in them. */
  layout(width: number): { lines: string[]; cursor: Cursor };
};

/** Emoji that it joins stand side by side, as everywhere on the screen. */
const JOINER = "\u200d";
const FIRST = 0xe000;
const MOST_PASTES = 0x1000;
const PASTE_LINES = 5;
const PASTE_CHARACTERS = 800;

export function createEditor(): Editor {
  let cells: string[] = [];
  let at = 0;
  const pastes: string[] = [];

  const insert = (text: string): void => {
    const added = [...text.replace(/[\ue000-\uefff]/g, "�")];
    cells.splice(at, 0, ...added);
    at += added.length;
  };
  const paste = (text: string): void => {
    if ((text.length < PASTE_CHARACTERS && text.split("\n").length <= PASTE_LINES) || pastes.length >= MOST_PASTES) return insert(text);
    cells.splice(at, 0, String.fromCharCode(FIRST + pastes.length));
    pastes.push(text);
    at++;
  };
  const remove = (from: number, to: number): void => {
    cells.splice(from, to - from);
    at = from;
  };
  const lineStart = (): number => cells.lastIndexOf("\n", at - 1) + 1;
  const lineEnd = (): number => {
    const end = cells.indexOf("\n", at);
    return end < 0 ? cells.length : end;
  };
  const wordLeft = (): number => {
    let i = at;
    while (i > 0 && /\s/.test(cells[i - 1] ?? "")) i--;
    while (i > 0 && !/\s/.test(cells[i - 1] ?? "")) i--;
    return i;
  };
  const wordRight = (): number => {
    let i = at;
    while (i < cells.length && /\s/.test(cells[i] ?? "")) i++;
    while (i < cells.length && !/\s/.test(cells[i] ?? "")) i++;
    return i;
  };
  /** Up or down by one line; false at the first or last one. */
  const vertical = (down: boolean): boolean => {
    const start = lineStart();
    const column = at - start;
    if (down) {
      const end = lineEnd();
      if (end === cells.length) return false;
      const next = cells.indexOf("\n", end + 1);
      at = Math.min(end + 1 + column, next < 0 ? cells.length : next);
      return true;
    }
    if (start === 0) return false;
    const before = start >= 2 ? cells.lastIndexOf("\n", start - 2) + 1 : 0;
    at = Math.min(before + column, start - 1);
    return true;
  };
  const keys: Record<string, () => void> = {
    left: () => (at = Math.max(0, at - 1)),
    right: () => (at = Math.min(cells.length, at + 1)),
    home: () => (at = lineStart()),
    end: () => (at = lineEnd()),
    "ctrl-a": () => (at = lineStart()),
    "ctrl-e": () => (at = lineEnd()),
    "ctrl-b": () => (at = Math.max(0, at - 1)),
    "ctrl-f": () => (at = Math.min(cells.length, at + 1)),
    "word-left": () => (at = wordLeft()),
    "word-right": () => (at = wordRight()),
    "word-back": () => remove(wordLeft(), at),
    "ctrl-w": () => remove(wordLeft(), at),
    "ctrl-u": () => remove(lineStart(), at),
    "ctrl-k": () => remove(at, lineEnd()),
    backspace: () => remove(Math.max(0, at - 1), at),
    delete: () => void cells.splice(at, 1),
    newline: () => insert("\n"),
  };

  return {
    press(key) {
      if (key.type === "text") insert(key.text);
      else if (key.type === "paste") paste(key.text);
      else if (key.name === "enter" && key.alt) insert("\n");
      else if (key.name === "enter" && cells[at - 1] === "\\" && at === cells.length) {
        remove(at - 1, at);
        insert("\n");
      } else if (key.name === "up" || key.name === "down") return vertical(key.name === "down");
      else if (keys[key.name] !== undefined) keys[key.name]?.();
      else return false;
      return true;
    },
    text: () => cells.map((c) => pasteOf(c) ?? c).join(""),
    isEmpty: () => cells.length === 0,
    set(text) {
      cells = [];
      at = 0;
      pastes.length = 0;
      insert(text);
    },
    before: () => cells.slice(0, at).join(""),
    replace(count, text) {
      remove(Math.max(0, at - count), at);
      insert(text);
    },
    layout(width) {
      const lines: string[] = [""];
      let used = 0;
      let cursor: Cursor = { row: 0, column: 0 };
      const mark = (i: number): void => {
        if (i === at) cursor = { row: lines.length - 1, column: used };
      };
      for (const [i, cell] of cells.entries()) {
        if (cell === "\n") {
          mark(i);
          lines.push("");
          used = 0;
          continue;
        }
        const shown = shownAs(cell);
        const w = [...shown].reduce((sum, c) => sum + characterWidth(c), 0);
        if (used + w > width && used > 0) {
          lines.push("");
          used = 0;
        }
        mark(i);
        lines[lines.length - 1] += shown;
        used += w;
      }
      if (at === cells.length) {
        if (used >= width) {
          lines.push("");
          used = 0;
        }
        mark(at);
      }
      return { lines, cursor };
    },
  };

  function pasteOf(cell: string): string | undefined {
    return cell >= "\ue000" && cell <= "\uefff" ? pastes[cell.charCodeAt(0) - FIRST] : undefined;
  }

  function shownAs(cell: string): string {
    const pasted = pasteOf(cell);
    if (pasted === undefined) return cell === "\t" ? "  " : cell === JOINER ? "" : inert(cell);
    const count = pasted.split("\n").length;
    return count > 1 ? `[pasted ${count.toLocaleString("en-US")} lines]` : `[pasted ${pasted.length.toLocaleString("en-US")} characters]`;
  }
}
