import { didYouMean, nearest } from "../nearest.ts";
import { FUNCTIONS, functionNames } from "./functions.ts";
import { partialNameFault } from "./partial-name.ts";
import { fail, nextToken, type Scanner, type Token, unexpected } from "./scanner.ts";
import { placeOf, TemplateError } from "./template-error.ts";
import type { Expression, Template } from "./tree.ts";

const DEEPEST = 64;
const CONSTANTS = new Map([["true", true], ["false", false], ["nil", null]]);

export type Parser = {
  scanner: Scanner;
  ahead: Token | undefined;
  scopes: Map<string, number>[];
  /** How many variables were declared; each has a slot of its own. */
  slots: number;
  /** Parentheses that are open. */
  depth: number;
  includes: Template["includes"];
};

/** Up to, not with, the `}}` or `)` that ends it. `what` names the owner in messages. */
export function parsePipeline(parser: Parser, what: string): Expression {
  const first = lookAhead(parser);
  if (first.kind === "close" || isMark(first, ")")) fail(parser.scanner, first.at, `missing value for ${what}`);
  let value = parseCommand(parser, undefined);
  while (isMark(lookAhead(parser), "|")) {
    take(parser);
    value = parseCommand(parser, value);
  }
  const after = lookAhead(parser);
  if (after.kind !== "close" && !isMark(after, ")")) unexpected(parser.scanner, after);
  if (isMark(after, ")") && parser.depth === 0) fail(parser.scanner, after.at, 'unexpected ")"');
  return value;
}

function parseCommand(parser: Parser, piped: Expression | undefined): Expression {
  const first = lookAhead(parser);
  if (isFunction(first)) {
    take(parser);
    return first.text === "include" ? parseInclude(parser, first, piped) : parseCall(parser, first, piped);
  }
  if (piped !== undefined) fail(parser.scanner, first.at, 'only a function can follow "|"');
  const value = parseOperand(parser);
  if (value.kind === "literal" && value.value === null) fail(parser.scanner, first.at, "nil is not a value of its own", "it can only be an argument, as in {{if eq .x nil}}");
  const next = lookAhead(parser);
  if (startsOperand(next) && next.spaced) {
    const source = parser.scanner.text.slice(first.at, next.at).trim();
    fail(parser.scanner, next.at, `${source} is not a function and takes no arguments`, `functions are: ${functionNames().join(", ")}`);
  }
  return value;
}

function parseCall(parser: Parser, name: Token, piped: Expression | undefined): Expression {
  const known = FUNCTIONS.get(name.text);
  if (known === undefined) fail(parser.scanner, name.at, `unknown function "${name.text}"`, unknownHint(parser, name));
  const args: Expression[] = [];
  while (startsOperand(lookAhead(parser))) {
    const next = lookAhead(parser);
    if (!next.spaced) unexpected(parser.scanner, next, "arguments are separated by spaces");
    if (isFunction(next)) {
      fail(parser.scanner, next.at, `"${next.text}" cannot be an argument`, `put its call in parentheses: (${next.text} …)`);
    }
    args.push(parseOperand(parser));
  }
  if (piped !== undefined) args.push(piped);
  const { least, most } = known;
  if (args.length < least || args.length > most) {
    const wanted = least === most ? String(least) : most === Number.POSITIVE_INFINITY ? `at least ${least}` : `${least} to ${most}`;
    fail(parser.scanner, name.at, `"${name.text}" takes ${wanted} argument${wanted === "1" ? "" : "s"}, not ${args.length}`, known.use);
  }
  return nest(parser, { kind: "call", at: name.at, depth: 0, name: name.text, args }, args);
}

/** Forgotten dots (`{{bead.title}}`) are the usual reason. */
function unknownHint(parser: Parser, name: Token): string {
  const next = lookAhead(parser);
  const near = nearest(name.text, functionNames());
  const dotted = next.kind === "field" && !next.spaced;
  if (near !== undefined && !dotted) return `did you mean '${near}'?`;
  const path = dotted ? `${name.text}.${next.text}` : name.text;
  return `a value starts with a dot: {{.${path}}}`;
}

/** `include "name.md" key=value …`; not Go's syntax, so its arguments are read here. */
function parseInclude(parser: Parser, word: Token, piped: Expression | undefined): Expression {
  const { scanner } = parser;
  if (piped !== undefined) fail(scanner, word.at, "include takes no piped value", 'pass it by name: {{include "name.md" key=value}}');
  const name = take(parser);
  if (name.kind !== "value" || typeof name.value !== "string") fail(scanner, name.at, "include needs the name of a partial in quotes", 'such as {{include "rules.md"}}');
  const fault = partialNameFault(name.value);
  if (fault !== undefined) throw new TemplateError(placeOf(scanner, name.at), `${name.text}: ${fault.message}`, { hint: fault.hint, fault: "include.outside" });
  parser.includes.push({ name: name.value, at: word.at });
  const args: { name: string; value: Expression }[] = [];
  const seen = new Set<string>();
  for (let key = lookAhead(parser); startsOperand(key) || key.kind === "open"; key = lookAhead(parser)) {
    take(parser);
    if (key.kind !== "word" || !key.spaced || !isMark(lookAhead(parser), "=")) unexpected(scanner, key, "a partial gets its values by name: key=value");
    if (seen.has(key.text)) fail(scanner, key.at, `"${key.text}" is given twice`);
    seen.add(key.text);
    take(parser);
    args.push({ name: key.text, value: parseIncludeValue(parser) });
  }
  return nest(parser, { kind: "include", at: word.at, depth: 0, name: name.value, args }, args.map((a) => a.value));
}

/** Any operand, or a pipeline in `{{…}}`. */
function parseIncludeValue(parser: Parser): Expression {
  const first = lookAhead(parser);
  if (first.kind !== "open") {
    if (isFunction(first)) unexpected(parser.scanner, first, "text stands in quotes, a value starts with a dot, a function call stands in parentheses");
    return parseOperand(parser);
  }
  take(parser);
  const value = parsePipeline(parser, "{{…}}");
  const close = take(parser);
  if (close.kind !== "close") unexpected(parser.scanner, close);
  return value;
}

/** A term and the fields that hang on it. */
function parseOperand(parser: Parser): Expression {
  const term = parseTerm(parser);
  const base = term.kind === "path" ? term.base : term;
  const names = term.kind === "path" ? [...term.names] : [];
  for (let next = lookAhead(parser); next.kind === "field" && !next.spaced; next = lookAhead(parser)) {
    if (term.kind === "literal" || term.kind === "dot") fail(parser.scanner, next.at, `unexpected ".${next.text}"`, "only a path, a variable or parentheses have fields");
    take(parser);
    names.push({ name: next.text, at: next.at });
  }
  return names.length === 0 ? term : nest(parser, { kind: "path", at: term.at, depth: 0, base, names }, [base]);
}

function parseTerm(parser: Parser): Expression {
  const token = take(parser);
  const { at } = token;
  switch (token.kind) {
    case "value":
      return { kind: "literal", at, depth: 0, value: token.value };
    case "dot":
      return { kind: "dot", at, depth: 0 };
    case "field":
      return { kind: "path", at, depth: 0, base: { kind: "dot", at, depth: 0 }, names: [{ name: token.text, at }] };
    case "variable":
      return { kind: "variable", at, depth: 0, slot: slotOf(parser, token) };
    case "word": {
      const value = CONSTANTS.get(token.text);
      if (value !== undefined) return { kind: "literal", at, depth: 0, value };
      break;
    }
    case "mark":
      if (token.text === "(") return parseParentheses(parser, token);
      break;
    default:
      break;
  }
  if (token.kind === "close") fail(parser.scanner, at, "missing value");
  unexpected(parser.scanner, token);
}

function parseParentheses(parser: Parser, open: Token): Expression {
  if (parser.depth >= DEEPEST) fail(parser.scanner, open.at, `parentheses may be nested at most ${DEEPEST} deep`);
  parser.depth++;
  const value = parsePipeline(parser, '"("');
  const close = take(parser);
  if (!isMark(close, ")")) fail(parser.scanner, open.at, '"(" is never closed');
  parser.depth--;
  return value;
}

/** Long pipelines nest calls too, so the depth is that of the tree. */
function nest(parser: Parser, expression: Expression, children: readonly Expression[]): Expression {
  const depth = 1 + children.reduce((most, child) => Math.max(most, child.depth), 0);
  if (depth > DEEPEST) fail(parser.scanner, expression.at, `an expression may be at most ${DEEPEST} calls deep`);
  return { ...expression, depth };
}

export function withScope<T>(parser: Parser, parse: () => T): T {
  parser.scopes.push(new Map());
  const result = parse();
  parser.scopes.pop();
  return result;
}

/** `:=` makes a variable of the innermost scope, `=` changes the nearest one. */
export function declare(parser: Parser, name: Token, assigns: boolean): number {
  if (name.text === "") fail(parser.scanner, name.at, '"$" cannot be changed');
  if (assigns) return slotOf(parser, name);
  const slot = parser.slots++;
  parser.scopes.at(-1)?.set(name.text, slot);
  return slot;
}

function slotOf(parser: Parser, token: Token): number {
  for (let i = parser.scopes.length - 1; i >= 0; i--) {
    const slot = parser.scopes[i]?.get(token.text);
    if (slot !== undefined) return slot;
  }
  const names = [...new Set(parser.scopes.flatMap((scope) => [...scope.keys()]))].filter((n) => n !== "").map((n) => `$${n}`);
  fail(parser.scanner, token.at, `undefined variable "$${token.text}"`, names.length === 0 ? "a variable is made with {{$name := value}}" : didYouMean(`$${token.text}`, names));
}

export function lookAhead(parser: Parser): Token {
  return (parser.ahead ??= nextToken(parser.scanner));
}

export function take(parser: Parser): Token {
  const token = lookAhead(parser);
  parser.ahead = undefined;
  return token;
}

function isFunction(token: Token): boolean {
  return token.kind === "word" && !CONSTANTS.has(token.text);
}

function startsOperand(token: Token): boolean {
  return token.kind === "value" || token.kind === "dot" || token.kind === "field" || token.kind === "variable" || token.kind === "word" || isMark(token, "(");
}

function isMark(token: Token, text: string): boolean {
  return token.kind === "mark" && token.text === text;
}
