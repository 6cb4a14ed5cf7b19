import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CruError } from "../contract/error.ts";

type Values = Record<string, unknown>;

/** `key=text` and `key:=json`; dots in the key make maps in maps. Assignments come after the file and win, the last one over those before. */
export function readVariables(given: { file: string | undefined; assignments: readonly string[] }, cwd: string): Values {
  const values = given.file === undefined ? {} : fromFile(resolve(cwd, given.file), given.file);
  for (const assignment of given.assignments) {
    const { key, value } = parse(assignment);
    set(values, key.split("."), value, assignment);
  }
  return values;
}

function fromFile(path: string, shown: string): Values {
  let text: string;
  try {
    text = readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (cause) {
    throw new CruError("not_found", `cannot read ${shown}`, { hint: "--var-file takes a file with one JSON object", cause });
  }
  const value = json(text, shown);
  if (!isMap(value)) throw new CruError("usage", `${shown} must hold one JSON object`);
  return value;
}

function parse(assignment: string): { key: string; value: unknown } {
  const at = assignment.indexOf("=");
  if (at < 0) throw new CruError("usage", `--var ${assignment}: expected name=value`, { hint: "name=value passes text, name:=value passes JSON" });
  const typed = assignment[at - 1] === ":";
  const key = assignment.slice(0, typed ? at - 1 : at);
  if (key.split(".").some((part) => part === "")) throw new CruError("usage", `--var ${assignment}: expected a name before the =`);
  const text = assignment.slice(at + 1);
  return { key, value: typed ? json(text, `--var ${key}`) : text };
}

function json(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new CruError("usage", `${where}: not valid JSON`, { hint: cause instanceof Error ? cause.message : "", cause });
  }
}

function set(values: Values, path: readonly string[], value: unknown, assignment: string): void {
  let map = values;
  for (const part of path.slice(0, -1)) {
    const next = Object.hasOwn(map, part) ? map[part] : {};
    if (!isMap(next)) throw new CruError("usage", `--var ${assignment}: '${part}' already has a value that is no map`);
    put(map, part, next);
    map = next;
  }
  put(map, path.at(-1) ?? "", value);
}

/** `map[key] = value` would change the prototype when the key is `__proto__`. */
function put(map: Values, key: string, value: unknown): void {
  Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
}

function isMap(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
