import { inertLine } from "../../lib/inert.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

const MOST_CHARACTERS = 64 * 1024;
const MOST_DEPTH = 24;
const MOST_PROSE = 1000;
const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];
/** A provider refuses the whole request, and with it every other tool, when one argument has another name. */
const ARGUMENT_NAME = /^(?!__proto__$)[A-Za-z0-9_.-]{1,64}$/;
/** Not allowed at the top of an input by model providers; the server checks them itself. */
const NOT_ON_TOP = new Set(["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref"]);

/**
 * The input schema of a foreign tool as a model provider takes it (draft 2020-12). What is malformed inside is left out,
 * which only loosens it: the server checks its input again. A fault when nothing usable is left.
 */
export function cleanSchema(raw: unknown): { ok: true; schema: JsonSchema } | { ok: false; fault: string } {
  if (!isRecord(raw)) return { ok: false, fault: "its input schema is not an object" };
  if (raw.type !== undefined && raw.type !== "object") return { ok: false, fault: "its input schema does not describe an object" };
  const size = sizeOf(raw);
  if (size === undefined || size > MOST_CHARACTERS) return { ok: false, fault: `its input schema is larger than ${MOST_CHARACTERS} characters` };
  const odd = Object.keys(isRecord(raw.properties) ? raw.properties : {}).find((name) => !ARGUMENT_NAME.test(name));
  if (odd !== undefined) return { ok: false, fault: `its argument ${JSON.stringify(inertLine(odd, 80))} has a name that models cannot use` };
  const top = Object.fromEntries(Object.entries(raw).filter(([key]) => !NOT_ON_TOP.has(key)));
  return { ok: true, schema: { properties: {}, ...cleaned(top, 0), type: "object" } };
}

function cleaned(raw: JsonSchema, depth: number): JsonSchema {
  const parts = Object.entries(raw).flatMap(([key, value]) => {
    // Before 2020-12 a list of schemas stood under `items`.
    const keyword = key === "items" && Array.isArray(value) ? "prefixItems" : key;
    const kept = KEYWORDS.get(keyword)?.(value, depth);
    return kept === undefined ? [] : [[keyword, kept] as const];
  });
  return Object.fromEntries(parts);
}

type Clean = (value: unknown, depth: number) => unknown;

const schema: Clean = (value, depth) => (typeof value === "boolean" ? value : isRecord(value) && depth < MOST_DEPTH ? cleaned(value, depth + 1) : undefined);
const schemas: Clean = (value, depth) => {
  const kept = Array.isArray(value) ? value.map((item) => schema(item, depth)) : [];
  return kept.length > 0 && !kept.includes(undefined) ? kept : undefined;
};
const schemaMap: Clean = (value, depth) => (isRecord(value) ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, schema(inner, depth) ?? {}])) : undefined);
const prose: Clean = (value) => (typeof value === "string" ? inertLine(value, MOST_PROSE) : undefined);
const word: Clean = (value) => (typeof value === "string" && /^[\w/+.-]{1,64}$/.test(value) ? value : undefined);
const flag: Clean = (value) => (typeof value === "boolean" ? value : undefined);
const number: Clean = (value) => (typeof value === "number" ? value : undefined);
const count: Clean = (value) => (Number.isInteger(value) && (value as number) >= 0 ? value : undefined);
const list: Clean = (value) => (Array.isArray(value) && value.length > 0 ? value : undefined);
const names: Clean = (value) => (Array.isArray(value) && value.every((name) => typeof name === "string") ? [...new Set(value)] : undefined);
const type: Clean = (value) => {
  const wanted = [value].flat();
  return wanted.length > 0 && wanted.every((name) => TYPES.includes(name as string)) ? value : undefined;
};
const pattern: Clean = (value) => {
  try {
    return typeof value === "string" && value.length <= MOST_PROSE ? new RegExp(value, "u").source && value : undefined;
  } catch {
    return undefined;
  }
};

const KEYWORDS: ReadonlyMap<string, Clean> = new Map([
  ...each(schema, "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"),
  ...each(schemas, "prefixItems", "allOf", "anyOf", "oneOf"),
  ...each(schemaMap, "properties", "patternProperties", "$defs", "definitions"),
  ...each(prose, "title", "description"),
  ...each(word, "format", "contentEncoding", "contentMediaType"),
  ...each(number, "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
  ...each((value) => (typeof value === "number" && value > 0 ? value : undefined), "multipleOf"),
  ...each(count, "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
  ...each(list, "enum", "examples"),
  ...each((value) => value, "const", "default"),
  ...each(flag, "uniqueItems"),
  ...each(names, "required"),
  ...each(type, "type"),
  ...each(pattern, "pattern"),
  ...each((value) => (typeof value === "string" && value.startsWith("#") ? value : undefined), "$ref"),
]);

function each(clean: Clean, ...keys: string[]): [string, Clean][] {
  return keys.map((key) => [key, clean]);
}

/** Undefined for what is nested too deep to be written at all. */
function sizeOf(value: unknown): number | undefined {
  try {
    return JSON.stringify(value).length;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
