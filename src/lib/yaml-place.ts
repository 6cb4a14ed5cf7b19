import { type Event, EVENT_ID, getScalarValue, SCALAR_STYLE } from "js-yaml";

export type FieldPath = readonly (string | number)[];

/** Offset of a field's key or value in the source; of the last part of the path that exists when the rest is missing. */
export function findEvent(text: string, events: readonly Event[], path: FieldPath, what: "key" | "value"): number {
  let index = events[0]?.type === EVENT_ID.DOCUMENT ? 1 : 0;
  let found = eventOffset(events[index]);
  for (const [depth, part] of path.entries()) {
    const container = events[index];
    const child = container?.type === EVENT_ID.MAPPING ? inMapping(text, events, index, String(part))
      : container?.type === EVENT_ID.SEQUENCE ? inSequence(events, index, Number(part)) : undefined;
    if (child === undefined) return found;
    const last = depth === path.length - 1;
    // A value that is left out has no place of its own.
    const value = eventOffset(events[child.value]);
    found = (last && what === "key") || value < 0 ? child.offset : value;
    index = child.value;
  }
  return found;
}

/** Where a node begins; -1 for one that is left out. */
export function eventOffset(event: Event | undefined): number {
  if (event === undefined || event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return 0;
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  if (event.tagStart >= 0) return event.tagStart;
  if (event.type !== EVENT_ID.SCALAR) return event.start;
  const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
  return quoted ? event.valueStart - 1 : event.valueStart;
}

/** Offset of a key inside the mapping that starts at event `mapping`. */
export function keyOffset(text: string, events: readonly Event[], mapping: number, key: string): number {
  return inMapping(text, events, mapping, key)?.offset ?? 0;
}

type Child = { value: number; offset: number };

function inMapping(text: string, events: readonly Event[], mapping: number, key: string): Child | undefined {
  for (let at = mapping + 1; at < events.length && events[at]?.type !== EVENT_ID.POP; ) {
    const event = events[at];
    const value = after(events, at);
    if (event?.type === EVENT_ID.SCALAR && (event.valueStart < 0 ? "" : getScalarValue(text, event)) === key) return { value, offset: eventOffset(event) };
    at = after(events, value);
  }
  return undefined;
}

function inSequence(events: readonly Event[], sequence: number, wanted: number): Child | undefined {
  let item = 0;
  for (let at = sequence + 1; at < events.length && events[at]?.type !== EVENT_ID.POP; at = after(events, at)) {
    if (item++ === wanted) return { value: at, offset: eventOffset(events[at]) };
  }
  return undefined;
}

/** Index of the event behind the node that starts at `index`. */
function after(events: readonly Event[], index: number): number {
  let depth = 0;
  for (let at = index; at < events.length; at++) {
    const type = events[at]?.type;
    if (type === EVENT_ID.MAPPING || type === EVENT_ID.SEQUENCE) depth++;
    else if (type === EVENT_ID.POP) depth--;
    if (depth <= 0) return at + 1;
  }
  return events.length;
}
