import { didYouMean } from "../nearest.ts";
import { declare, lookAhead, parsePipeline, take, type Parser, withScope } from "./parse-expression.ts";
import { fail, nextText, type Token, unexpected } from "./scanner.ts";
import { TemplateError } from "./template-error.ts";
import type { Branch, Expression, Node, Template } from "./tree.ts";

const MOST_CHARACTERS = 1_000_000;
const DEEPEST_BLOCKS = 64;
const KEYWORDS = ["if", "else", "end", "range", "with", "break", "continue"];
const UNSUPPORTED = ["define", "block", "template"];

/** Parses once what can be rendered many times. The name stands in every message, so it should be the file's path. */
export function parseTemplate(text: string, name: string): Template {
  if (text.length > MOST_CHARACTERS) throw new TemplateError({ name, line: 1, column: 1 }, `a template may have at most ${MOST_CHARACTERS} characters`);
  const parser: Parser = {
    scanner: { name, text, at: 0, open: 0, trims: false },
    ahead: undefined,
    scopes: [new Map([["", 0]])],
    slots: 1,
    depth: 0,
    includes: [],
  };
  const body = parseList(parser, { blocks: 0, inRange: false });
  if (body.stop !== undefined) fail(parser.scanner, body.stop.at, `unexpected "${body.stop.text}"`);
  return { name, text, nodes: body.nodes, includes: parser.includes };
}

type Context = { blocks: number; inRange: boolean };
/** `stop` is the `else` or `end` that ended the list, undefined at the end of the text. */
type List = { nodes: Node[]; stop: Token | undefined };

function parseList(parser: Parser, context: Context): List {
  const nodes: Node[] = [];
  for (;;) {
    const { text, at, ended } = nextText(parser.scanner);
    if (text !== "") nodes.push({ kind: "text", at, text });
    if (ended) return { nodes, stop: undefined };
    const first = lookAhead(parser);
    if (first.kind === "word" && (first.text === "else" || first.text === "end")) return { nodes, stop: take(parser) };
    nodes.push(parseAction(parser, first, context));
  }
}

function parseAction(parser: Parser, first: Token, context: Context): Node {
  const { scanner } = parser;
  const keyword = first.kind === "word" ? first.text : "";
  if (UNSUPPORTED.includes(keyword)) fail(scanner, first.at, `"${keyword}" is not supported`, 'share text between spells with {{include "name.md" key=value}}');
  switch (keyword) {
    case "if":
    case "with":
      return parseBranches(parser, keyword, context);
    case "range":
      return parseRange(parser, context);
    case "break":
    case "continue":
      take(parser);
      if (!context.inRange) fail(scanner, first.at, `"${keyword}" outside of a range`);
      expectClose(parser);
      return { kind: keyword, at: first.at };
    default:
      return parseStatement(parser, first);
  }
}

function parseStatement(parser: Parser, first: Token): Node {
  const subject = parseSubject(parser, "an action");
  expectClose(parser);
  if (subject.names.length === 0) return { kind: "show", at: first.at, value: subject.value };
  return { kind: "set", at: first.at, slot: bind(parser, subject, 0) ?? 0, value: subject.value };
}

function parseBranches(parser: Parser, keyword: "if" | "with", context: Context): Node {
  const { at } = take(parser);
  return withScope(parser, () => {
    const branches: Branch[] = [];
    for (;;) {
      const subject = parseSubject(parser, `"${keyword}"`);
      expectClose(parser);
      const slot = bind(parser, subject, 0);
      const body = parseBody(parser, keyword, at, context);
      branches.push({ subject: subject.value, slot, body: body.nodes });
      if (body.stop.text === "end") {
        expectClose(parser);
        return { kind: keyword, at, branches, otherwise: [] };
      }
      const next = lookAhead(parser);
      if (next.kind === "word" && next.text === keyword) take(parser);
      else return { kind: keyword, at, branches, otherwise: parseOtherwise(parser, keyword, at, context) };
    }
  });
}

function parseRange(parser: Parser, context: Context): Node {
  const { at } = take(parser);
  return withScope(parser, () => {
    const subject = parseSubject(parser, '"range"', 2);
    expectClose(parser);
    const two = subject.names.length === 2;
    const key = two ? bind(parser, subject, 0) : undefined;
    const item = bind(parser, subject, two ? 1 : 0);
    const body = parseBody(parser, "range", at, { ...context, inRange: true });
    const otherwise = body.stop.text === "else" ? parseOtherwise(parser, "range", at, context) : [];
    if (body.stop.text === "end") expectClose(parser);
    return { kind: "range", at, subject: subject.value, key, item, body: body.nodes, otherwise };
  });
}

/** After a plain `else`: its text, up to and with the `end`. */
function parseOtherwise(parser: Parser, keyword: string, at: number, context: Context): Node[] {
  expectClose(parser);
  const body = parseBody(parser, keyword, at, context);
  if (body.stop.text === "else") fail(parser.scanner, body.stop.at, 'unexpected "else"', `this "${keyword}" already has one`);
  expectClose(parser);
  return body.nodes;
}

function parseBody(parser: Parser, keyword: string, at: number, context: Context): { nodes: Node[]; stop: Token } {
  if (context.blocks >= DEEPEST_BLOCKS) fail(parser.scanner, at, `blocks may be nested at most ${DEEPEST_BLOCKS} deep`);
  const { nodes, stop } = withScope(parser, () => parseList(parser, { ...context, blocks: context.blocks + 1 }));
  if (stop === undefined) fail(parser.scanner, at, `"${keyword}" is never closed`, "add {{end}}");
  return { nodes, stop };
}

type Subject = { value: Expression; names: Token[]; assigns: boolean };

/** A pipeline with the variables it is given to: `$x := …`, `$x = …`, in a range also `$i, $x := …`. */
function parseSubject(parser: Parser, what: string, most = 1): Subject {
  const first = lookAhead(parser);
  if (first.kind !== "variable") return { value: parsePipeline(parser, what), names: [], assigns: false };
  const start = { at: parser.scanner.at, ahead: parser.ahead };
  const names = [take(parser)];
  if (isMark(lookAhead(parser), ",")) {
    if (most === 1) unexpected(parser.scanner, lookAhead(parser), "only a range gives two values");
    take(parser);
    const second = take(parser);
    if (second.kind !== "variable") fail(parser.scanner, second.at, "expected a second variable");
    names.push(second);
  }
  const mark = lookAhead(parser);
  if (isMark(mark, ":=") || isMark(mark, "=")) {
    take(parser);
    return { value: parsePipeline(parser, what), names, assigns: mark.text === "=" };
  }
  if (names.length === 2) fail(parser.scanner, mark.at, 'expected ":="');
  // It was only a value that begins with a variable: read it again as such.
  parser.scanner.at = start.at;
  parser.ahead = start.ahead;
  return { value: parsePipeline(parser, what), names: [], assigns: false };
}

function bind(parser: Parser, subject: Subject, index: number): number | undefined {
  const name = subject.names[index];
  return name === undefined ? undefined : declare(parser, name, subject.assigns);
}

function expectClose(parser: Parser): void {
  const token = take(parser);
  if (token.kind === "close") return;
  const hint = token.kind === "word" && !KEYWORDS.includes(token.text) ? didYouMean(token.text, KEYWORDS) : undefined;
  unexpected(parser.scanner, token, hint);
}

function isMark(token: Token, text: string): boolean {
  return token.kind === "mark" && token.text === text;
}
