import { isRecord, type JsonSchema } from "./clean-schema.ts";

export type InputFault = { path: (string | number)[]; message: string };

const MOST_DEPTH = 24;

/**
 * Where an input surely does not fit, so that the model learns it without a call. Only what can be decided at once is
 * looked at: no patterns (a foreign one could hang us), no references, no alternatives. The server checks the rest.
 */
export function inputFaults(value: unknown, schema: unknown, path: (string | number)[] = []): InputFault[] {
  if (!isRecord(schema) || schema.$ref !== undefined || path.length > MOST_DEPTH) return [];
  const types = typeof schema.type === "string" ? [schema.type] : Array.isArray(schema.type) ? (schema.type as string[]) : undefined;
  if (types !== undefined && !types.some((type) => isType(value, type))) return [{ path, message: `expected ${types.join(" or ")}` }];
  if (Array.isArray(schema.enum) && isPlain(value) && schema.enum.every(isPlain) && !schema.enum.includes(value)) {
    return [{ path, message: `expected one of ${schema.enum.slice(0, 20).map((word) => JSON.stringify(word)).join(", ")}` }];
  }
  if (Array.isArray(value)) return schema.prefixItems === undefined ? value.slice(0, 100).flatMap((item, i) => inputFaults(item, schema.items, [...path, i])) : [];
  return isRecord(value) ? memberFaults(value, schema, path) : [];
}

function memberFaults(value: Record<string, unknown>, schema: JsonSchema, path: (string | number)[]): InputFault[] {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  const missing = required.filter((name) => !Object.hasOwn(value, name)).map((name) => ({ path: [...path, name], message: "is missing" }));
  const isClosed = schema.additionalProperties === false && schema.patternProperties === undefined;
  const wrong = Object.entries(value).flatMap(([name, inner]) => {
    if (Object.hasOwn(properties, name)) return inputFaults(inner, properties[name], [...path, name]);
    return isClosed ? [{ path: [...path, name], message: "is not an argument of this tool" }] : [];
  });
  return [...missing, ...wrong];
}

function isType(value: unknown, type: string): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value !== "object";
}
