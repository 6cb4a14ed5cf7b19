import { constructFromEvents, type Event, EVENT_ID, getScalarValue, parseEvents, type ScalarEvent, YAMLException } from "js-yaml";
import type { Fault, ProblemCode } from "../contract/problem.ts";
import { eventOffset, type FieldPath, findEvent } from "./yaml-place.ts";

export type Place = { line: number; column: number };

export type Yaml = {
  /** Undefined when there are faults, null when the text is empty. */
  value: unknown;
  faults: Fault[];
  /** Where a field stands in the file; the nearest parent when the field is missing. */
  locate(path: FieldPath, what: "key" | "value"): Place;
};

export const YAML_LIMITS = { characters: 131_072, depth: 32, nodes: 10_000 } as const;
const UNSAFE_KEYS = new Set(["__proto__", "constructor", "prototype"]);

/**
 * Reads one YAML document that a stranger may have written. Anchors without aliases are harmless; aliases, merge keys, tags,
 * several documents, duplicate and unsafe keys, depth and size beyond the limits are faults. Never throws for any text.
 */
export function readYaml(text: string, options: { firstLine?: number; maxCharacters?: number } = {}): Yaml {
  const firstLine = options.firstLine ?? 1;
  const most = options.maxCharacters ?? YAML_LIMITS.characters;
  const place = (offset: number): Place => placeOf(text, offset, firstLine);
  const refuse = (fault: Fault): Yaml => ({ value: undefined, faults: [fault], locate: () => ({ line: fault.line, column: fault.column }) });
  if (text.length > most) {
    return refuse({ ...fault("file.too_large", `the YAML is larger than ${most / 1024} KiB`, "move long text into the body"), line: firstLine, column: 1 });
  }
  let events: Event[];
  try {
    events = parseEvents(text, { maxDepth: YAML_LIMITS.depth });
  } catch (error) {
    return refuse(syntaxFault(error, place));
  }
  const faults = checkEvents(text, events, place);
  const locate: Yaml["locate"] = (path, what) => place(findEvent(text, events, path, what));
  if (faults.length > 0 || events.length === 0) return { value: events.length === 0 ? null : undefined, faults, locate };
  try {
    return { value: constructFromEvents(events, { source: text, maxAliases: 0 })[0], faults, locate };
  } catch (error) {
    return refuse(syntaxFault(error, place));
  }
}

type Frame = { kind: "document" | "sequence" } | { kind: "mapping"; keys: Map<string, number>; atKey: boolean };

/** One pass over the parser's events; every fault with its own place. */
function checkEvents(text: string, events: readonly Event[], place: (offset: number) => Place): Fault[] {
  const faults: Fault[] = [];
  const add = (offset: number, code: ProblemCode, message: string, hint: string, field = ""): void => {
    faults.push({ ...fault(code, message, hint), field, ...place(offset) });
  };
  const stack: Frame[] = [];
  let nodes = 0;
  let documents = 0;
  for (const [index, event] of events.entries()) {
    if (event.type === EVENT_ID.POP) {
      stack.pop();
      continue;
    }
    if (event.type === EVENT_ID.DOCUMENT) {
      if (++documents === 2) add(eventOffset(events[index + 1]), "yaml.several_documents", "more than one YAML document", "keep one and remove the other '---'");
      stack.push({ kind: "document" });
      continue;
    }
    if (++nodes > YAML_LIMITS.nodes) {
      add(eventOffset(event), "yaml.too_many_nodes", `more than ${YAML_LIMITS.nodes} values`, "shorten the file");
      return faults;
    }
    if (faults.length >= 100) return faults;
    const frame = stack.at(-1);
    const isKey = frame?.kind === "mapping" && frame.atKey;
    if (frame?.kind === "mapping") frame.atKey = !frame.atKey;
    if (event.type === EVENT_ID.ALIAS) {
      const name = text.slice(event.anchorStart, event.anchorEnd);
      add(event.anchorStart - 1, "yaml.alias", `aliases such as '*${name.slice(0, 40)}' are not allowed`, "write the value out; quote it if it is text that starts with '*'");
      continue;
    }
    if (event.tagStart >= 0) {
      add(event.tagStart, "yaml.tag", `tags such as '${text.slice(event.tagStart, event.tagEnd).slice(0, 40)}' are not allowed`, "remove the tag; quote the value if it is text");
    }
    if (event.type === EVENT_ID.SCALAR) {
      if (isKey) checkKey(getScalarValue(text, event), event, frame, place, add);
      continue;
    }
    if (isKey) add(event.start, "yaml.syntax", "a key must be plain text", "quote it if it is text that starts with '[' or '{'");
    stack.push(event.type === EVENT_ID.MAPPING ? { kind: "mapping", keys: new Map(), atKey: true } : { kind: "sequence" });
  }
  return faults;
}

function checkKey(
  key: string,
  event: ScalarEvent,
  frame: Extract<Frame, { kind: "mapping" }>,
  place: (offset: number) => Place,
  add: (offset: number, code: ProblemCode, message: string, hint: string, field?: string) => void,
): void {
  const offset = eventOffset(event);
  const before = frame.keys.get(key);
  if (key === "<<") add(offset, "yaml.merge_key", "merge keys ('<<') are not allowed", "write the keys out");
  else if (UNSAFE_KEYS.has(key)) add(offset, "yaml.unsafe_key", `the key '${key}' is not allowed`, "remove it");
  else if (before !== undefined) add(offset, "yaml.duplicate_key", `the key '${key.slice(0, 64)}' stands here twice`, `the first is on line ${place(before).line}; remove one`, key.slice(0, 64));
  else frame.keys.set(key, offset);
}

function fault(code: ProblemCode, message: string, hint: string): Fault {
  return { line: 1, column: 1, field: "", message, hint, severity: "error", code };
}

/** The parser has no codes, so its few reasons that deserve their own are told apart by their text. */
function syntaxFault(error: unknown, place: (offset: number) => Place): Fault {
  const [reason, offset] = error instanceof YAMLException ? [error.reason, error.mark?.position ?? 0] : ["it could not be read", 0];
  const at = place(offset);
  if (reason.startsWith("nesting exceeded")) return { ...fault("yaml.too_deep", `nested deeper than ${YAML_LIMITS.depth} levels`, "flatten it"), ...at };
  if (reason.startsWith("null byte")) return { ...fault("file.nul", "a NUL byte", "save the file as UTF-8 text"), ...at };
  if (reason.startsWith("duplicated mapping key")) return { ...fault("yaml.duplicate_key", "the same key stands here twice", "remove one"), ...at };
  return { ...fault("yaml.syntax", reason, syntaxHint(reason)), ...at };
}

function syntaxHint(reason: string): string {
  if (reason.startsWith("tab characters")) return "indent with spaces";
  if (/quoted scalar/.test(reason)) return "close the quotes";
  if (/flow collection|missed comma/.test(reason)) return "close the bracket, and put commas between values";
  if (/escape sequence|hexadecimal/.test(reason)) return "use single quotes, or write \\\\ for a backslash";
  if (/non-printable/.test(reason)) return "remove the control character";
  return "quote values that contain ': ' or start with a special character";
}

function placeOf(text: string, offset: number, firstLine: number): Place {
  const end = Math.max(0, Math.min(offset, text.length));
  let line = firstLine;
  let start = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < end; at = text.indexOf("\n", at + 1)) {
    line++;
    start = at + 1;
  }
  return { line, column: end - start + 1 };
}
