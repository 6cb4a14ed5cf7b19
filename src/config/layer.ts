import type { SettingsFile } from "../contract/settings.ts";

export const LAYERS = ["builtin", "user", "project", "environment", "flags"] as const;
export type LayerName = (typeof LAYERS)[number];

/** Where a value was said. */
export type Origin = { layer: LayerName; file?: string; line?: number; variable?: string };

/** What one source says, checked. `used` is false for a project's file that nobody has trusted. */
export type Layer = {
  name: LayerName;
  value: SettingsFile;
  used: boolean;
  place(key: readonly string[]): Origin;
};

/** Every single value of a layer with its key; a map's entries each on their own, a list and an MCP server as one. */
export function* entriesOf(value: unknown, path: readonly string[] = []): Generator<[string[], unknown]> {
  if (!isMapping(value) || (path[0] === "mcp" && path.length === 3)) {
    if (value !== undefined) yield [[...path], value];
    return;
  }
  for (const [key, inner] of Object.entries(value)) yield* entriesOf(inner, [...path, key]);
}

export function valueAt(value: unknown, path: readonly string[]): unknown {
  let at = value;
  for (const key of path) {
    if (!isMapping(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return at;
}

/** Sets a value in place, making the mappings on the way. */
export function setAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key = "", ...rest] = path;
  if (rest.length === 0) {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
    return;
  }
  const inner = Object.hasOwn(target, key) ? target[key] : undefined;
  const next = isMapping(inner) ? inner : {};
  if (next !== inner) setAt(target, [key], next);
  setAt(next, rest, value);
}

export function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
