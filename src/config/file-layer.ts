import { createHash } from "node:crypto";
import { lstatSync, realpathSync } from "node:fs";
import type { Problem } from "../contract/problem.ts";
import { type SettingsFile, settingsSchema } from "../contract/settings.ts";
import { isInside, readGuarded } from "../lib/read-guarded.ts";
import { schemaFaults } from "../lib/schema-faults.ts";
import { readYaml, type Yaml } from "../lib/yaml.ts";
import { isMapping, type Layer, setAt, valueAt } from "./layer.ts";
import { normalise } from "./normalise.ts";
import { ownFaults } from "./own-faults.ts";

export type FileLayer = { layer: Layer; problems: Problem[]; hash: string; problemAt(path: readonly PropertyKey[], what: "key" | "value", problem: Partial<Problem>): Problem };

const LARGEST = 128 * 1024;

/** Reads one `config.yaml`. Keys with a fault are left out, so that the rest can still be shown. Undefined when there is no such file. `within`: the folder that links may not leave. */
export function readFileLayer(name: "user" | "project", path: string, within: string): FileLayer | undefined {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const read = readBytes(path, within);
  if (typeof read === "string") return broken(name, path, { code: "file.unreadable", message: read });
  const hash = createHash("sha256").update(read).digest("hex");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(read);
  } catch {
    return { ...broken(name, path, { code: "file.not_utf8", message: "is not UTF-8 text", hint: "save it as UTF-8" }), hash };
  }
  return { ...parseFileLayer(name, path, text), hash };
}

/** The same on a text that is not (yet) in the file. */
export function parseFileLayer(name: "user" | "project", path: string, text: string): Omit<FileLayer, "hash"> {
  const yaml = readYaml(text);
  const problemAt: FileLayer["problemAt"] = (field, what, problem) => problemIn(path, yaml, field, what, problem);
  const faults = yaml.faults.map((fault): Problem => ({ path, ...fault }));
  if (faults.length > 0) return { ...broken(name, path, {}), problems: faults };
  const value = normalise(yaml.value);
  if (!isMapping(value)) return broken(name, path, { code: "field.type", message: "settings must be a mapping of keys to values", hint: "such as `model: opus`" });
  const problems: Problem[] = [];
  for (const fault of [...schemaFaults(settingsSchema, value), ...ownFaults(value)]) {
    problems.push(problemAt(fault.path, fault.at, { code: fault.code, message: fault.message, hint: fault.hint }));
  }
  const place: Layer["place"] = (key) => ({ layer: name, file: path, line: yaml.locate([...key], "key").line });
  return { layer: { name, value: valid(value, problems.length > 0), used: true, place }, problems, problemAt };
}

/** Without the top-level keys that have a fault. */
function valid(value: Record<string, unknown>, hasProblems: boolean): SettingsFile {
  if (!hasProblems) return value as SettingsFile;
  const kept: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const alone = { [key]: inner };
    if (schemaFaults(settingsSchema, alone).length === 0 && ownFaults(alone).length === 0) setAt(kept, [key], valueAt(value, [key]));
  }
  return kept as SettingsFile;
}

function readBytes(path: string, within: string): Uint8Array | string {
  try {
    const real = realpathSync(path);
    if (within !== "/" && !isInside(real, within)) return "is a link that leaves the project";
    const read = readGuarded(real, within, Buffer.alloc(LARGEST + 1));
    return read.ok ? read.bytes : `cannot be read: ${read.reason}`;
  } catch {
    return "cannot be read";
  }
}

function problemIn(path: string, yaml: Yaml, field: readonly PropertyKey[], what: "key" | "value", problem: Partial<Problem>): Problem {
  const at = yaml.locate(field.map((part) => (typeof part === "number" ? part : String(part))), what);
  return { ...base(path), ...at, field: field.map(String).join("."), ...problem };
}

function broken(name: "user" | "project", path: string, problem: Partial<Problem>): FileLayer {
  const layer: Layer = { name, value: {}, used: true, place: () => ({ layer: name, file: path }) };
  return { layer, problems: [{ ...base(path), ...problem }], hash: "", problemAt: (_field, _what, p) => ({ ...base(path), ...p }) };
}

function base(path: string): Problem {
  return { path, line: 1, column: 1, field: "", message: "", hint: "", severity: "error", code: "field.value" };
}
