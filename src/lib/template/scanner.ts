import { TemplateError, placeOf } from "./template-error.ts";
import { characterCode, numberOf, unescape } from "./literal.ts";

export type Token = {
  kind: "field" | "dot" | "variable" | "word" | "value" | "mark" | "open" | "close";
  at: number;
  end: number;
  /** Space stood before it: arguments must be apart, the parts of a path must not. */
  spaced: boolean;
  /** The name without its `.` or `$`, the mark, or the source of a value. */
  text: string;
  value: string | number;
};

/** Reads one source from left to right; every character is looked at a fixed number of times. */
export type Scanner = {
  name: string;
  text: string;
  at: number;
  /** Where the action being read begins. */
  open: number;
  /** The last action ended in ` -}}`. */
  trims: boolean;
};

const SPACE = " \t\r\n";
const NAME_START = /[\p{L}_]/u;
const NAME_PART = /[\p{L}\p{Nd}_]/u;

export function fail(scanner: Scanner, at: number, reason: string, hint?: string): never {
  throw new TemplateError(placeOf(scanner, at), reason, { hint });
}

export function unexpected(scanner: Scanner, token: Token, hint?: string): never {
  fail(scanner, token.at, `unexpected ${JSON.stringify(scanner.text.slice(token.at, token.end))}`, hint);
}

/** The text before the next action or the end. Comments are dropped on the way, and trimming is done. */
export function nextText(scanner: Scanner): { text: string; at: number; ended: boolean } {
  const start = scanner.at;
  const pieces: string[] = [];
  for (;;) {
    if (scanner.trims) scanner.at = skipSpace(scanner.text, scanner.at);
    scanner.trims = false;
    const open = scanner.text.indexOf("{{", scanner.at);
    if (open < 0) {
      pieces.push(scanner.text.slice(scanner.at));
      scanner.at = scanner.text.length;
      return { text: pieces.join(""), at: start, ended: true };
    }
    const trimmed = scanner.text[open + 2] === "-" && isSpace(scanner.text[open + 3]);
    scanner.open = open;
    pieces.push(scanner.text.slice(scanner.at, trimmed ? endWithoutSpace(scanner.text, scanner.at, open) : open));
    scanner.at = open + 2 + (trimmed ? 2 : 0);
    const inside = trimmed ? skipSpace(scanner.text, scanner.at) : scanner.at;
    if (!scanner.text.startsWith("/*", inside)) return { text: pieces.join(""), at: start, ended: false };
    skipComment(scanner, open, inside);
  }
}

function skipComment(scanner: Scanner, open: number, inside: number): void {
  const end = scanner.text.indexOf("*/", inside + 2);
  if (end < 0) fail(scanner, open, "unclosed comment", "a comment ends with */}}");
  const after = end + 2;
  const trimmed = isSpace(scanner.text[after]) && scanner.text.startsWith("-}}", after + 1);
  if (!trimmed && !scanner.text.startsWith("}}", after)) fail(scanner, after, 'a comment must end with "*/}}" or "*/ -}}"');
  scanner.trims = trimmed;
  scanner.at = after + (trimmed ? 4 : 2);
}

/** The next token inside an action. */
export function nextToken(scanner: Scanner): Token {
  const { text } = scanner;
  const start = scanner.at;
  const at = skipSpace(text, start);
  const spaced = at > start;
  const token = (kind: Token["kind"], end: number, shown = text.slice(at, end), value: string | number = shown): Token => {
    scanner.at = end;
    return { kind, at, end, spaced, text: shown, value };
  };
  const character = text[at];
  if (character === undefined) fail(scanner, scanner.open, "unclosed action", 'add "}}"');
  if (spaced && text.startsWith("-}}", at)) {
    scanner.trims = true;
    return token("close", at + 3);
  }
  if (text.startsWith("}}", at)) {
    scanner.trims = false;
    return token("close", at + 2);
  }
  if (text.startsWith("{{", at)) return token("open", at + 2);
  if (text.startsWith(":=", at)) return token("mark", at + 2);
  if ("=|(),".includes(character)) return token("mark", at + 1);
  if (character === '"' || character === "'") return quoted(scanner, at, character, token);
  if (character === "`") {
    const end = text.indexOf("`", at + 1);
    if (end < 0) fail(scanner, at, "unterminated raw text", "it ends with a backquote");
    return token("value", end + 1, text.slice(at, end + 1), text.slice(at + 1, end));
  }
  const next = text[at + 1] ?? "";
  if (isDigit(character) || ((character === "." || character === "+" || character === "-") && (isDigit(next) || character !== "."))) {
    return number(scanner, at, token);
  }
  if (character === "." || character === "$") {
    const end = nameEnd(text, at + 1);
    if (end > at + 1) checkEnd(scanner, end);
    const name = text.slice(at + 1, end);
    return token(character === "$" ? "variable" : end === at + 1 ? "dot" : "field", end, name);
  }
  const end = nameEnd(text, at);
  if (end === at) fail(scanner, at, `unexpected ${shown(text, at)}`);
  checkEnd(scanner, end);
  return token("word", end);
}

type Make = (kind: Token["kind"], end: number, shown?: string, value?: string | number) => Token;

function quoted(scanner: Scanner, at: number, quote: '"' | "'", token: Make): Token {
  const { text } = scanner;
  let end = at + 1;
  while (end < text.length && text[end] !== quote && text[end] !== "\n") end += text[end] === "\\" ? 2 : 1;
  if (text[end] !== quote) fail(scanner, at, quote === '"' ? "unterminated text" : "unterminated character");
  const inside = text.slice(at + 1, end);
  const value = quote === '"' ? unescape(inside, quote) : characterCode(inside);
  if (value === undefined) fail(scanner, at, `${text.slice(at, end + 1)} is not a valid ${quote === '"' ? "text" : "character"}`, "text stands in double quotes, with Go's escapes; `…` takes everything as it is");
  return token("value", end + 1, text.slice(at, end + 1), value);
}

function number(scanner: Scanner, at: number, token: Make): Token {
  const { text } = scanner;
  let end = at + 1;
  for (; end < text.length; end++) {
    const c = text[end] ?? "";
    const signOfExponent = (c === "+" || c === "-") && /[eE]/.test(text[end - 1] ?? "") && !/^[+-]?0[xX]/.test(text.slice(at, at + 3));
    if (!/[0-9A-Za-z_.]/.test(c) && !signOfExponent) break;
  }
  const shown = text.slice(at, end);
  const value = numberOf(shown);
  if (value === undefined) fail(scanner, at, `bad number "${shown}"`);
  checkEnd(scanner, end);
  return token("value", end, shown, value);
}

/** After a name or number something must follow that cannot belong to it. */
function checkEnd(scanner: Scanner, end: number): void {
  const { text } = scanner;
  const next = text[end];
  if (next === undefined || isSpace(next) || ".,|:()=".includes(next) || text.startsWith("}}", end)) return;
  const hint = next === "-" ? 'a name has no dash: write _ for it, or index . "the-name"' : undefined;
  fail(scanner, end, `unexpected ${shown(text, end)}`, hint);
}

function nameEnd(text: string, start: number): number {
  let end = start;
  for (;;) {
    const character = String.fromCodePoint(text.codePointAt(end) ?? 0);
    if (!(end === start ? NAME_START : NAME_PART).test(character)) return end;
    end += character.length;
  }
}

function shown(text: string, at: number): string {
  return JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (isSpace(text[at])) at++;
  return at;
}

function endWithoutSpace(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace(text[at - 1])) at--;
  return at;
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && SPACE.includes(character);
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9" && character.length === 1;
}
