import { didYouMean } from "../nearest.ts";
import { FUNCTIONS } from "./functions.ts";
import { MOST_TEXT, MOST_WORK } from "./limits.ts";
import { parseTemplate } from "./parse-template.ts";
import { placeOf, TemplateError, type TemplateFault } from "./template-error.ts";
import { textOf } from "./text-of.ts";
import type { Expression, Node, Template } from "./tree.ts";
import { isTrue, isWhole, kindName, kindOf, own, sortedKeys } from "./value.ts";
import { ValueFault } from "./value-fault.ts";

export type RenderOptions = {
  /** Finds a partial. Its `name` stands in messages and tells files apart, so it should be the file's path. */
  include?: (name: string) => { name: string; text: string } | undefined;
  /** Names of partials, for suggestions. */
  partials?: () => readonly string[];
  /** A top-level name that the data does not have is an error (the default) or nil. */
  strict?: boolean;
  /** How a list or map becomes text; JSON when it gives undefined. */
  collection?: (value: object) => string | undefined;
  /** Last word on what an action writes; not used inside partials. */
  write?: (text: string, value: unknown) => string;
  limits?: { output?: number; work?: number };
};

export const DEEPEST_INCLUDE = 5;

/** Fills a template. Values are inserted once and never read as template text; only own properties are seen; nothing is called. */
export function render(template: Template, data: unknown, options: RenderOptions = {}): string {
  const run: Run = {
    options,
    partials: new Map(),
    work: options.limits?.work ?? MOST_WORK,
    output: options.limits?.output ?? MOST_TEXT,
    box: { text: (value) => (typeof value === "object" && value !== null ? collectionText(run, value) : textOf(value)) },
  };
  return renderOne(run, { template, root: data ?? {}, trail: [template.name], chunks: [], slots: [] });
}

/** Writing JSON costs more than anything else a template can ask for, so it is counted here, whoever asks. */
function collectionText(run: Run, value: object): string {
  const text = run.options.collection?.(value) ?? textOf(value);
  run.work -= text.length >> 4;
  if (run.work < 0) throw new ValueFault(TOO_MUCH.reason, TOO_MUCH.hint);
  return text;
}

const TOO_MUCH = { reason: "this template does too much work", hint: "a loop in it is too long, or a value too large" };

/** What one call of `render` shares between the template and its partials. */
type Run = {
  options: RenderOptions;
  partials: Map<string, Template>;
  /** Steps and characters that are left. */
  work: number;
  output: number;
  box: { text(value: unknown): string };
};

type Frame = { template: Template; root: unknown; /** Names of the templates around this one, and its own. */ trail: string[]; chunks: string[]; slots: unknown[] };

function renderOne(run: Run, frame: Frame): string {
  frame.slots[0] = frame.root;
  runList(run, frame, frame.template.nodes, frame.root);
  return frame.chunks.join("");
}

type Flow = "on" | "break" | "continue";

function runList(run: Run, frame: Frame, nodes: readonly Node[], dot: unknown): Flow {
  for (const node of nodes) {
    const flow = runNode(run, frame, node, dot);
    if (flow !== "on") return flow;
  }
  return "on";
}

function runNode(run: Run, frame: Frame, node: Node, dot: unknown): Flow {
  spend(run, frame, node.at, 1);
  switch (node.kind) {
    case "text":
      write(run, frame, node.at, node.text);
      return "on";
    case "show": {
      const value = evaluate(run, frame, node.value, dot);
      const text = guarded(frame, node.at, () => run.box.text(value));
      spend(run, frame, node.at, text.length >> 6);
      write(run, frame, node.at, frame.trail.length === 1 && run.options.write !== undefined ? run.options.write(text, value) : text);
      return "on";
    }
    case "set":
      frame.slots[node.slot] = evaluate(run, frame, node.value, dot);
      return "on";
    case "if":
    case "with":
      for (const branch of node.branches) {
        const value = evaluate(run, frame, branch.subject, dot);
        if (branch.slot !== undefined) frame.slots[branch.slot] = value;
        if (isTrue(value)) return runList(run, frame, branch.body, node.kind === "with" ? value : dot);
      }
      return runList(run, frame, node.otherwise, dot);
    case "range":
      return runRange(run, frame, node, dot);
    default:
      return node.kind;
  }
}

function runRange(run: Run, frame: Frame, node: Extract<Node, { kind: "range" }>, dot: unknown): Flow {
  const subject = evaluate(run, frame, node.subject, dot);
  let empty = true;
  for (const [key, value] of entries(run, frame, node, subject)) {
    empty = false;
    spend(run, frame, node.at, 1);
    if (node.key !== undefined) frame.slots[node.key] = key;
    if (node.item !== undefined) frame.slots[node.item] = value;
    if (runList(run, frame, node.body, value) === "break") break;
  }
  return empty ? runList(run, frame, node.otherwise, dot) : "on";
}

function* entries(run: Run, frame: Frame, node: Extract<Node, { kind: "range" }>, subject: unknown): Generator<[unknown, unknown]> {
  switch (kindOf(subject)) {
    case "nil":
      return;
    case "list":
      yield* (subject as unknown[]).entries();
      return;
    case "map": {
      const map = subject as object;
      const keys = sortedKeys(map);
      spend(run, frame, node.at, keys.length);
      for (const key of keys) yield [key, own(map, key)];
      return;
    }
    case "number":
      if (isWhole(subject as number) && node.key === undefined) {
        for (let i = 0; i < (subject as number); i++) yield [i, i];
        return;
      }
      if (isWhole(subject as number)) stop(frame, node.at, "a range over a number gives only one variable");
      break;
    default:
      break;
  }
  stop(frame, node.subject.at, `range cannot go over ${kindName(subject)}`);
}

/** `tolerant`: a missing top-level name is nil here, because the template says what to do then. */
function evaluate(run: Run, frame: Frame, expression: Expression, dot: unknown, tolerant = false): unknown {
  switch (expression.kind) {
    case "literal":
      return expression.value;
    case "dot":
      return dot;
    case "variable":
      return frame.slots[expression.slot];
    case "path": {
      let value = evaluate(run, frame, expression.base, dot);
      for (const { name, at } of expression.names) value = field(run, frame, value, name, at, tolerant);
      return value;
    }
    case "call":
      return call(run, frame, expression, dot);
    case "include":
      return include(run, frame, expression, dot);
  }
}

function field(run: Run, frame: Frame, from: unknown, name: string, at: number, tolerant: boolean): unknown {
  const kind = kindOf(from);
  if (kind === "nil") return undefined;
  if (kind !== "map") stop(frame, at, `.${name}: ${kindName(from)} has no fields`, kind === "list" ? "go over it with range, or take one with index" : undefined);
  const map = from as object;
  const missing = from === frame.root && !tolerant && run.options.strict !== false && !Object.hasOwn(map, name);
  if (missing) stop(frame, at, `unknown name ".${name}"`, knownNames(frame, name, Object.keys(map)));
  return own(map, name);
}

function knownNames(frame: Frame, name: string, names: readonly string[]): string {
  if (names.length === 0) return frame.trail.length > 1 ? "a partial sees only what the include passes, and this one passes nothing" : "there are no values here";
  return didYouMean(name, names.slice(0, 50));
}

function call(run: Run, frame: Frame, expression: Extract<Expression, { kind: "call" }>, dot: unknown): unknown {
  const { name, at } = expression;
  spend(run, frame, at, 1);
  const known = FUNCTIONS.get(name);
  if (known === undefined) throw new Error(`the parser let "${name}" through`);
  const { run: compute, tolerant } = known;
  if (typeof compute === "boolean") return firstThat(run, frame, expression.args, dot, compute);
  const args: unknown[] = [];
  let length = 0;
  for (const arg of expression.args) {
    const value = evaluate(run, frame, arg, dot, tolerant);
    if (typeof value === "string") {
      spend(run, frame, at, value.length >> 6);
      length += value.length;
    }
    if (Array.isArray(value)) spend(run, frame, at, value.length >> 3);
    args.push(value);
  }
  if (length > MOST_TEXT) tooLong(frame, at);
  const result = guarded(frame, at, () => compute(args, run.box));
  if (typeof result === "string") {
    spend(run, frame, at, result.length >> 6);
    if (result.length > MOST_TEXT) tooLong(frame, at);
  }
  return result;
}

function tooLong(frame: Frame, at: number): never {
  stop(frame, at, `a text may have at most ${MOST_TEXT} characters`);
}

/** Go's `and` and `or`: arguments after the deciding one are not looked at. */
function firstThat(run: Run, frame: Frame, args: readonly Expression[], dot: unknown, wanted: boolean): unknown {
  let value: unknown;
  for (const arg of args) {
    value = evaluate(run, frame, arg, dot);
    if (isTrue(value) === wanted) return value;
  }
  return value;
}

function include(run: Run, frame: Frame, expression: Extract<Expression, { kind: "include" }>, dot: unknown): string {
  const { name, at } = expression;
  spend(run, frame, at, 10);
  // Without a prototype, so that a value called __proto__ is only a value.
  const root = Object.create(null) as Record<string, unknown>;
  for (const arg of expression.args) root[arg.name] = evaluate(run, frame, arg.value, dot);
  const template = partial(run, frame, name, at);
  const trail = [...frame.trail, template.name];
  if (frame.trail.includes(template.name)) {
    stop(frame, at, `circular include: ${trail.slice(trail.indexOf(template.name)).map(shortName).join(" → ")}`, undefined, "include.cycle");
  }
  if (frame.trail.length > DEEPEST_INCLUDE) stop(frame, at, `includes may be nested at most ${DEEPEST_INCLUDE} deep: ${trail.map(shortName).join(" → ")}`, undefined, "include.depth");
  return renderOne(run, { template, root, trail, chunks: [], slots: [] });
}

function partial(run: Run, frame: Frame, name: string, at: number): Template {
  const known = run.partials.get(name);
  if (known !== undefined) return known;
  const found = run.options.include?.(name);
  if (found === undefined) {
    const names = run.options.partials?.() ?? [];
    stop(frame, at, `no partial "${name}"`, names.length === 0 ? undefined : didYouMean(name, names), "include.not_found");
  }
  const template = parseTemplate(found.text, found.name);
  run.partials.set(name, template);
  return template;
}

export function shortName(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1);
}

function write(run: Run, frame: Frame, at: number, text: string): void {
  run.output -= text.length;
  if (run.output < 0) stop(frame, at, "the result is too long", `at most ${run.options.limits?.output ?? MOST_TEXT} characters`);
  frame.chunks.push(text);
}

function spend(run: Run, frame: Frame, at: number, steps: number): void {
  run.work -= steps;
  if (run.work < 0) stop(frame, at, TOO_MUCH.reason, TOO_MUCH.hint);
}

/** Gives what a function throws a place. */
function guarded<T>(frame: Frame, at: number, compute: () => T): T {
  try {
    return compute();
  } catch (error) {
    if (error instanceof ValueFault) stop(frame, at, error.message, error.hint);
    throw error;
  }
}

function stop(frame: Frame, at: number, reason: string, hint?: string, fault: TemplateFault = "template.value"): never {
  const place = placeOf(frame.template, at);
  const around = frame.trail.length > 1 && fault === "template.value" ? ` (included from ${frame.trail.slice(0, -1).map(shortName).join(" → ")})` : "";
  throw new TemplateError(place, `${reason}${around}`, { hint, fault });
}
