import { equal, less } from "./compare.ts";
import { MOST_TEXT } from "./limits.ts";
import { goQuote, printf } from "./printf.ts";
import { compareText, isTrue, isWhole, kindName, kindOf, own } from "./value.ts";
import { ValueFault } from "./value-fault.ts";

/** What a function may use of the renderer. */
export type Toolbox = { text(value: unknown): string };

type TemplateFunction = {
  least: number;
  most: number;
  /** Shown when it is called wrongly. */
  use: string;
  /** A function, or the truth at which `and` and `or` stop looking at their arguments. */
  run: boolean | ((args: unknown[], box: Toolbox) => unknown);
  /** A top-level name that is missing is nil for it, not an error. */
  tolerant?: true;
};

const ANY = Number.POSITIVE_INFINITY;

/** Every function by name. A piped value is the last argument. */
export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ["and", { least: 1, most: ANY, use: "and A B …", run: false }],
  ["or", { least: 1, most: ANY, use: "or A B …", run: true }],
  ["not", { least: 1, most: 1, use: "not A", run: ([a]) => !isTrue(a) }],
  ["eq", { least: 2, most: ANY, use: "eq A B …: A equals one of the others", run: ([a, ...others]) => others.some((b) => equal(a, b)) }],
  ["ne", { least: 2, most: 2, use: "ne A B", run: ([a, b]) => !equal(a, b) }],
  ["lt", { least: 2, most: 2, use: "lt A B: A is less than B", run: ([a, b]) => less(a, b) }],
  ["le", { least: 2, most: 2, use: "le A B: A is at most B", run: ([a, b]) => less(a, b) || equal(a, b) }],
  ["gt", { least: 2, most: 2, use: "gt A B: A is greater than B", run: ([a, b]) => less(b, a) }],
  ["ge", { least: 2, most: 2, use: "ge A B: A is at least B", run: ([a, b]) => less(b, a) || equal(a, b) }],
  ["len", { least: 1, most: 1, use: "len A", run: ([a]) => lengthOf(a) }],
  ["index", { least: 1, most: ANY, use: "index COLLECTION KEY …", run: ([from, ...keys]) => keys.reduce(item, from) }],
  ["slice", { least: 1, most: 3, use: "slice LIST_OR_TEXT FROM TO", run: ([from, ...ends]) => slice(from, ends) }],
  ["print", { least: 0, most: ANY, use: "print A …", run: (args, box) => print(args, box) }],
  ["println", { least: 0, most: ANY, use: "println A …", run: (args, box) => `${args.map((a) => shown(a, box)).join(" ")}\n` }],
  ["printf", { least: 1, most: ANY, use: 'printf "FORMAT" A …', run: ([format, ...args], box) => printf(textArgument("printf", format), args, box) }],
  ["html", { least: 1, most: ANY, use: "html A …", run: (args, box) => print(args, box).replace(/[\0"'&<>]/g, (c) => HTML[c] ?? c) }],
  ["urlquery", { least: 1, most: ANY, use: "urlquery A …", run: (args, box) => urlQuery(print(args, box)) }],
  ["default", { least: 2, most: 2, use: "default FALLBACK VALUE", tolerant: true, run: ([fallback, value]) => (isTrue(value) ? value : fallback) }],
  ["join", { least: 2, most: 2, use: 'join ", " LIST', run: ([a, b], box) => join(a, b, box) }],
  ["upper", { least: 1, most: 1, use: "upper TEXT", run: ([a], box) => box.text(a).toUpperCase() }],
  ["lower", { least: 1, most: 1, use: "lower TEXT", run: ([a], box) => box.text(a).toLowerCase() }],
  ["trim", { least: 1, most: 1, use: "trim TEXT", run: ([a], box) => box.text(a).trim() }],
  ["indent", { least: 2, most: 2, use: "indent SPACES TEXT", run: ([by, a], box) => indent(by, box.text(a)) }],
  ["nindent", { least: 2, most: 2, use: "nindent SPACES TEXT", run: ([by, a], box) => `\n${indent(by, box.text(a))}` }],
  ["quote", { least: 1, most: ANY, use: "quote TEXT …", run: (args, box) => args.map((a) => goQuote(box.text(a))).join(" ") }],
]);

export function functionNames(): string[] {
  return [...FUNCTIONS.keys(), "include"].sort(compareText);
}

/** Go counts the bytes of a text. */
function lengthOf(value: unknown): number {
  switch (kindOf(value)) {
    case "string":
      return Buffer.byteLength(value as string);
    case "list":
      return (value as unknown[]).length;
    case "map":
      return Object.keys(value as object).length;
    default:
      throw new ValueFault(`${kindName(value)} has no length`);
  }
}

function item(from: unknown, key: unknown): unknown {
  switch (kindOf(from)) {
    case "map":
      if (typeof key !== "string") throw new ValueFault(`a map is indexed by text, not by ${kindName(key)}`);
      return own(from as object, key);
    case "list":
      return (from as unknown[])[position(key, (from as unknown[]).length - 1)];
    case "string": {
      const bytes = Buffer.from(from as string);
      return bytes[position(key, bytes.length - 1)];
    }
    default:
      throw new ValueFault(`${kindName(from)} cannot be indexed`);
  }
}

function slice(from: unknown, ends: unknown[]): unknown {
  const whole = kindOf(from) === "string" ? Buffer.from(from as string) : kindOf(from) === "list" ? (from as unknown[]) : undefined;
  if (whole === undefined) throw new ValueFault(`${kindName(from)} cannot be sliced`);
  const start = ends.length < 1 ? 0 : position(ends[0], whole.length);
  const end = ends.length < 2 ? whole.length : position(ends[1], whole.length);
  if (start > end) throw new ValueFault(`a slice cannot go from ${start} to ${end}`);
  return Buffer.isBuffer(whole) ? whole.subarray(start, end).toString("utf8") : whole.slice(start, end);
}

function position(key: unknown, most: number): number {
  if (typeof key !== "number" || !isWhole(key)) throw new ValueFault(`a position is a whole number, not ${kindName(key)}`);
  if (key < 0 || key > most) throw new ValueFault(`position ${key} is out of range`, most < 0 ? "there is nothing in it" : `0 to ${most}`);
  return key;
}

/** Go's Sprint: a space between two values when neither is a text. */
function print(args: readonly unknown[], box: Toolbox): string {
  return args.map((a, i) => (i > 0 && typeof a !== "string" && typeof args[i - 1] !== "string" ? ` ${shown(a, box)}` : shown(a, box))).join("");
}

/** Go's print functions show nil, an action of its own does not. */
function shown(value: unknown, box: Toolbox): string {
  return kindOf(value) === "nil" ? "<nil>" : box.text(value);
}

/** Both orders are in use: `join ", " .list` of sprig, so that it can be piped, and Go's `join .list ", "`. */
function join(a: unknown, b: unknown, box: Toolbox): string {
  const [separator, list] = Array.isArray(a) ? [b, a] : [a, b];
  if (kindOf(list) === "nil") return "";
  if (!Array.isArray(list) || typeof separator !== "string") throw new ValueFault(`join needs a text and a list, not ${kindName(a)} and ${kindName(b)}`);
  return list.map((entry) => box.text(entry)).join(separator);
}

function indent(by: unknown, text: string): string {
  const prefix = " ".repeat(position(by, 200));
  const lines = text.split("\n").length;
  if (text.length + lines * prefix.length > MOST_TEXT) throw new ValueFault(`a text may have at most ${MOST_TEXT} characters`);
  return prefix + text.replaceAll("\n", `\n${prefix}`);
}

function textArgument(name: string, value: unknown): string {
  if (typeof value !== "string") throw new ValueFault(`${name} needs a text first, not ${kindName(value)}`);
  return value;
}

const HTML: Record<string, string> = { "\0": "\uFFFD", '"': "&#34;", "'": "&#39;", "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function urlQuery(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString()).replaceAll("%20", "+").replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}
