/** What a template sees of a value of the program: six kinds, own properties only. */
export type Kind = "nil" | "bool" | "number" | "string" | "list" | "map";

export function kindOf(value: unknown): Kind {
  switch (typeof value) {
    case "string":
      return "string";
    case "number":
      return "number";
    case "boolean":
      return "bool";
    case "object":
      return value === null ? "nil" : Array.isArray(value) ? "list" : "map";
    default:
      return "nil";
  }
}

/** Go's truth: false, 0, nil and whatever is empty are false. */
export function isTrue(value: unknown): boolean {
  switch (kindOf(value)) {
    case "nil":
      return false;
    case "list":
      return (value as unknown[]).length > 0;
    case "map":
      return hasKeys(value as object);
    default:
      return Boolean(value) || Number.isNaN(value);
  }
}

/** An own property of a map; undefined for everything else. */
export function own(map: object, name: string): unknown {
  return Object.hasOwn(map, name) ? (map as Record<string, unknown>)[name] : undefined;
}

export function sortedKeys(map: object): string[] {
  return Object.keys(map).sort(compareText);
}

/** By code point, which is the order of Go's bytes. */
export function compareText(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return surrogateLast(x) - surrogateLast(y);
  }
  return a.length - b.length;
}

/** Surrogates stand for characters above the ones at U+E000 to U+FFFF. */
function surrogateLast(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}

/** Go's name of the kind, as printf and messages show it. */
export function typeName(value: unknown): string {
  const names = { nil: "<nil>", bool: "bool", string: "string", list: "[]interface {}", map: "map[string]interface {}" };
  const kind = kindOf(value);
  return kind === "number" ? (isWhole(value as number) ? "int" : "float64") : names[kind];
}

/** JSON has one kind of number; a whole one that prints without an exponent behaves as Go's int, the rest as float64. */
export function isWhole(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < 1e21;
}

/** A short name for messages to a person. */
export function kindName(value: unknown): string {
  return { nil: "nothing", bool: "a boolean", number: "a number", string: "a text", list: "a list", map: "a map" }[kindOf(value)];
}

function hasKeys(map: object): boolean {
  for (const key in map) if (Object.hasOwn(map, key)) return true;
  return false;
}
