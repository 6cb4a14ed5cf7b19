import { isDeepStrictEqual } from "node:util";
import { readYaml } from "./yaml.ts";

export type YamlEdit = { ok: true; text: string } | { ok: false; reason: string };

/**
 * Sets one value in a YAML text and touches no other character of it: comments, order and spelling of everything else stay.
 * The result is read back; when anything but that one value would mean something else, nothing is changed and the reason is given.
 */
export function setInYaml(text: string, path: readonly string[], value: unknown): YamlEdit {
  const before = readYaml(text);
  if (before.faults.length > 0) return { ok: false, reason: `it cannot be read: ${before.faults[0]?.message ?? ""} (line ${before.faults[0]?.line ?? 1})` };
  if (before.value !== null && !isMapping(before.value)) return { ok: false, reason: "it is not a mapping of keys to values" };
  const wanted = withValue(before.value ?? {}, path, value);
  for (const edited of candidates(text, path, value)) {
    const after = readYaml(edited);
    if (after.faults.length === 0 && isDeepStrictEqual(after.value, wanted)) return { ok: true, text: edited };
  }
  return { ok: false, reason: "it is written in a way that cannot be changed without touching other lines" };
}

/** Ways to write it, best first. Each is only a proposal: the caller reads it back. */
function* candidates(text: string, path: readonly string[], value: unknown): Generator<string> {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const root = readYaml(text).value;
  let depth = 0;
  while (depth < path.length && hasKey(valueAt(root, path.slice(0, depth)), path[depth] ?? "")) depth++;
  const existing = path.slice(0, depth);
  const rest = path.slice(depth);
  if (rest.length === 0) {
    yield* replaced(text, path, value);
    return;
  }
  const parent = valueAt(root, existing);
  const lines = blockLines(rest, value, eol);
  if (existing.length === 0) {
    yield appended(text, lines(""), eol);
    if (isMapping(parent)) yield* insertedInFlow(text, offsetOf(text, existing, "value"), rest, value);
  } else if (isMapping(parent) && Object.keys(parent).length > 0) {
    yield* insertedInFlow(text, offsetOf(text, existing, "value"), rest, value);
    const [first = ""] = Object.keys(parent);
    const at = lineStart(text, offsetOf(text, [...existing, first], "key"));
    yield text.slice(0, at) + lines(indentAt(text, at)) + text.slice(at);
  } else if (isMapping(parent)) {
    yield* replaced(text, existing, nested(rest, value));
  } else if (parent === null) {
    const key = offsetOf(text, existing, "key");
    const at = lineEnd(text, key);
    const glue = at > 0 && text[at - 1] !== "\n" ? eol : "";
    yield text.slice(0, at) + glue + lines(`${indentAt(text, lineStart(text, key))}  `) + text.slice(at);
    yield* replaced(text, existing, nested(rest, value));
  }
}

/** The value that stands there exchanged for one on the same line; a block below the key goes with it, unless it holds comments. */
function* replaced(text: string, path: readonly string[], value: unknown): Generator<string> {
  const key = offsetOf(text, path, "key");
  const colon = text.indexOf(":", key + keyLength(text, key));
  if (colon < 0) return;
  const start = offsetOf(text, path, "value");
  const sameLine = start >= colon && lineEnd(text, start) === lineEnd(text, colon);
  if (sameLine) {
    const end = nodeEnd(text, start);
    if (end !== undefined) yield text.slice(0, start) + inline(value) + text.slice(end);
  }
  if (sameLine && !/[|>&!]/.test(text[start] ?? "")) return;
  const end = blockEnd(text, key);
  const removed = text.slice(colon + 1, end);
  if (!removed.includes("#")) yield `${text.slice(0, colon + 1)} ${inline(value)}${text.includes("\r\n") ? "\r\n" : "\n"}${text.slice(end)}`;
  else if (start <= colon || removed.trimStart().startsWith("#")) yield `${text.slice(0, colon + 1)} ${inline(value)}${text.slice(colon + 1)}`;
}

function* insertedInFlow(text: string, start: number, rest: readonly string[], value: unknown): Generator<string> {
  if (text[start] !== "{") return;
  const end = nodeEnd(text, start);
  const [key = "", ...deeper] = rest;
  if (end === undefined) return;
  const inside = text.slice(start + 1, end - 1);
  const kept = inside.trimEnd();
  const separator = kept.trim() === "" ? "" : kept.endsWith(",") ? " " : ", ";
  yield text.slice(0, start + 1) + kept + separator + `${inline(key)}: ${inline(nested(deeper, value))}` + inside.slice(kept.length) + text.slice(end - 1);
}

function appended(text: string, lines: string, eol: string): string {
  return text === "" || text.endsWith("\n") ? text + lines : text + eol + lines;
}

/** `limits:` and, below it, `budget_usd: 5`. */
function blockLines(path: readonly string[], value: unknown, eol: string): (indent: string) => string {
  return (indent) => path.map((key, depth) => `${indent}${"  ".repeat(depth)}${inline(key)}:${depth === path.length - 1 ? ` ${inline(value)}` : ""}${eol}`).join("");
}

/** A value on one line: flow style, quoted only where it must be. */
export function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (isMapping(value)) return `{${Object.entries(value).map(([key, inner]) => `${inline(key)}: ${inline(inner)}`).join(", ")}}`;
  if (typeof value !== "string") return String(value);
  const plain = /^[A-Za-z0-9_./@$-][A-Za-z0-9_./@ -]*$/.test(value) && !/^-(?: |$)|^[-.]{3}| $/.test(value) && readYaml(value).value === value;
  // oxlint-disable-next-line no-control-regex
  return plain ? value : JSON.stringify(value).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
}

/** Behind a node that starts here: a scalar on its line, or a bracket to its partner. Undefined for what is neither. */
function nodeEnd(text: string, start: number): number | undefined {
  const first = text[start] ?? "";
  if (first === '"' || first === "'") return quoteEnd(text, start);
  if (first === "[" || first === "{") return bracketEnd(text, start);
  if (/[|>&!*]/.test(first)) return undefined;
  // A plain scalar ends before a comment, the line's end, or what closes or separates a flow collection around it.
  const rest = /^(?:[^\n#,\]}]|(?<=\S)#)*/.exec(text.slice(start))?.[0] ?? "";
  return start + rest.trimEnd().length;
}

function quoteEnd(text: string, start: number): number | undefined {
  const pattern = text[start] === '"' ? /"(?:[^"\\]|\\[\s\S])*"/y : /'(?:[^']|'')*'/y;
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}

function bracketEnd(text: string, start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const c = text[at] ?? "";
    if ((c === '"' || c === "'") && /[\s[{,:]/.test(text[at - 1] ?? " ")) at = (quoteEnd(text, at) ?? text.length) - 1;
    else if (c === "#" && /\s/.test(text[at - 1] ?? " ")) at = lineEnd(text, at) - 1;
    else if (c === "[" || c === "{") depth++;
    else if ((c === "]" || c === "}") && --depth === 0) return at + 1;
  }
  return undefined;
}

/** Start of the first line behind the key's block: not indented further than the key, and no list item at its own depth. */
function blockEnd(text: string, key: number): number {
  const indent = key - lineStart(text, key);
  let end = lineEnd(text, key);
  for (let at = end; at < text.length; at = lineEnd(text, at)) {
    const line = text.slice(at, lineEnd(text, at));
    const depth = line.search(/\S/);
    if (depth < 0) continue;
    if (depth < indent || (depth === indent && !line.slice(depth).startsWith("- "))) break;
    end = lineEnd(text, at);
  }
  return end;
}

function keyLength(text: string, key: number): number {
  return /["']/.test(text[key] ?? "") ? (quoteEnd(text, key) ?? key) - key : 0;
}

function offsetOf(text: string, path: readonly string[], what: "key" | "value"): number {
  const place = readYaml(text).locate(path, what);
  let at = 0;
  for (let line = 1; line < place.line; line++) at = lineEnd(text, at);
  return at + place.column - 1;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Behind the newline that ends this line. */
function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

function indentAt(text: string, start: number): string {
  return /^ */.exec(text.slice(start))?.[0] ?? "";
}

function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

function withValue(root: unknown, path: readonly string[], value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const mapping = isMapping(root) ? root : {};
  return { ...mapping, [key]: withValue(hasKey(mapping, key) ? mapping[key] : undefined, rest, value) };
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (hasKey(at, key) ? at[key] : undefined), root);
}

function hasKey(value: unknown, key: string): value is Record<string, unknown> {
  return isMapping(value) && Object.hasOwn(value, key);
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
