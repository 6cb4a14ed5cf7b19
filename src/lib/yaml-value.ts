import { type Event, EVENT_ID, getScalarValue, SCALAR_STYLE, type ScalarEvent } from "js-yaml";
import type { ProblemCode } from "../contract/problem.ts";
import { eventOffset, keyOffset } from "./yaml-place.ts";
import { plainScalar } from "./yaml-scalar.ts";

export type ValueFault = { offset: number; code: ProblemCode; field: string; message: string; hint: string };

const UNSAFE_KEYS = new Set(["__proto__", "constructor", "prototype"]);
const MOST_FAULTS = 100;

type Mapping = { [key: string]: unknown };
type Frame =
  | { kind: "document" }
  | { kind: "sequence"; value: unknown[] }
  | { kind: "mapping"; value: Mapping; index: number; /** Undefined while a key is awaited; null for a key that was refused. */ key: string | null | undefined };

/** The value of a parsed document, null for an empty one. The parser's own constructor would follow aliases and costs twice the parse. */
export function buildValue(text: string, events: readonly Event[], mostNodes: number): { value: unknown; faults: ValueFault[] } {
  const faults: ValueFault[] = [];
  const add = (offset: number, code: ProblemCode, message: string, hint: string, field = ""): void => void faults.push({ offset, code, field, message, hint });
  const stack: Frame[] = [];
  let root: unknown = null;
  let nodes = 0;
  let documents = 0;
  for (let index = 0; index < events.length; index++) {
    const event = events[index];
    if (event === undefined || faults.length >= MOST_FAULTS) break;
    if (event.type === EVENT_ID.POP) {
      stack.pop();
      continue;
    }
    if (event.type === EVENT_ID.DOCUMENT) {
      if (++documents === 2) add(eventOffset(events[index + 1]), "yaml.several_documents", "more than one YAML document", "keep one and remove the other '---'");
      stack.push({ kind: "document" });
      continue;
    }
    if (++nodes > mostNodes) {
      add(eventOffset(event), "yaml.too_many_nodes", `more than ${mostNodes} values`, "shorten the file");
      break;
    }
    const frame = stack.at(-1);
    const awaitsKey = frame?.kind === "mapping" && frame.key === undefined;
    const refused = refusal(text, event, awaitsKey);
    if (refused !== undefined) add(...refused);
    if (awaitsKey) {
      frame.key = event.type === EVENT_ID.SCALAR && refused === undefined ? checkedKey(text, events, event, frame, add) : null;
      // A key that is itself a collection was refused; what is in it must still be passed over.
      if (event.type === EVENT_ID.MAPPING || event.type === EVENT_ID.SEQUENCE) stack.push({ kind: "sequence", value: [] });
      continue;
    }
    const value: unknown = event.type === EVENT_ID.SCALAR ? scalar(text, event) : event.type === EVENT_ID.SEQUENCE ? [] : {};
    if (frame?.kind === "sequence") frame.value.push(value);
    else if (frame?.kind === "mapping") {
      if (typeof frame.key === "string") frame.value[frame.key] = value;
      frame.key = undefined;
    } else root = value;
    if (event.type === EVENT_ID.SEQUENCE) stack.push({ kind: "sequence", value: value as unknown[] });
    else if (event.type === EVENT_ID.MAPPING) stack.push({ kind: "mapping", value: value as Mapping, index, key: undefined });
  }
  return { value: root, faults };
}

type Add = (offset: number, code: ProblemCode, message: string, hint: string, field?: string) => void;

function refusal(text: string, event: Exclude<Event, { type: typeof EVENT_ID.POP | typeof EVENT_ID.DOCUMENT }>, isKey: boolean): Parameters<Add> | undefined {
  if (event.type === EVENT_ID.ALIAS) {
    const name = text.slice(event.anchorStart, event.anchorEnd).slice(0, 40);
    return [eventOffset(event), "yaml.alias", `aliases such as '*${name}' are not allowed`, "write the value out; quote it if it is text that starts with '*'"];
  }
  if (event.tagStart >= 0) {
    const tag = text.slice(event.tagStart, event.tagEnd).slice(0, 40);
    return [event.tagStart, "yaml.tag", `tags such as '${tag}' are not allowed`, "remove the tag; quote the value if it is text"];
  }
  if (isKey && event.type !== EVENT_ID.SCALAR) return [event.start, "yaml.syntax", "a key must be plain text", "quote it if it is text that starts with '[' or '{'"];
  return undefined;
}

function checkedKey(text: string, events: readonly Event[], event: ScalarEvent, frame: Extract<Frame, { kind: "mapping" }>, add: Add): string | null {
  const key = event.valueStart < 0 ? "" : getScalarValue(text, event);
  const offset = eventOffset(event);
  const short = key.slice(0, 64);
  if (key === "<<" && event.style === SCALAR_STYLE.PLAIN) add(offset, "yaml.merge_key", "merge keys ('<<') are not allowed", "write the keys out");
  else if (UNSAFE_KEYS.has(key)) add(offset, "yaml.unsafe_key", `the key '${short}' is not allowed`, "remove it", short);
  else if (Object.hasOwn(frame.value, key)) {
    const first = text.slice(0, keyOffset(text, events, frame.index, key));
    const back = text.slice(first.length, offset).split("\n").length - 1;
    add(offset, "yaml.duplicate_key", `the key '${short}' stands here twice`, back === 0 ? "remove one" : `remove one; the first is ${back} ${back === 1 ? "line" : "lines"} above`, short);
  } else return key;
  return null;
}

function scalar(text: string, event: ScalarEvent): unknown {
  if (event.valueStart < 0) return event.style === SCALAR_STYLE.PLAIN ? null : "";
  const value = getScalarValue(text, event);
  return event.style === SCALAR_STYLE.PLAIN ? plainScalar(value) : value;
}
