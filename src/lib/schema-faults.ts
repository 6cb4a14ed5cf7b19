import type { z } from "zod";
import { isPermission, PERMISSIONS } from "../contract/permission.ts";
import type { ProblemCode } from "../contract/problem.ts";
import { didYouMean } from "./nearest.ts";
import { keysAt, schemaAt } from "./schema-at.ts";

/** What a schema holds against a value, in words for the person who wrote it. `at` says whether the key or the value is meant. */
export type SchemaFault = { path: PropertyKey[]; at: "key" | "value"; code: ProblemCode; message: string; hint: string };

type Issue = z.core.$ZodIssue;

export function schemaFaults(schema: z.ZodType, value: unknown): SchemaFault[] {
  const result = schema.safeParse(value, { reportInput: true });
  return result.success ? [] : result.error.issues.flatMap((issue) => faultsOf(issue, [], schema));
}

function faultsOf(issue: Issue, before: readonly PropertyKey[], schema: z.ZodType): SchemaFault[] {
  const path = [...before, ...issue.path];
  const value = (code: ProblemCode, message: string, hint = ""): SchemaFault[] => [{ path, at: "value", code, message, hint }];
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        path: [...path, key], at: "key", code: "field.unknown", message: `unknown key '${key}'`, hint: didYouMean(key, keysAt(schema, path)),
      }));
    case "invalid_type":
      if (issue.input === undefined) return [{ path, at: "key", code: "field.missing", message: "is missing", hint: `write ${article(issue.expected)}` }];
      return value("field.type", `expected ${article(issue.expected)}, found ${describe(issue.input)}`);
    case "invalid_value":
      return oneOf(issue.values.map(String), issue.input, value);
    case "invalid_union":
      return bestBranch(issue, path, schema) ?? value("field.value", `${describe(issue.input)} is not allowed here`, shapes(schema, path));
    case "too_small":
      return value("field.value", issue.origin === "string" || issue.origin === "array" ? "must not be empty" : `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`);
    case "too_big":
      return value("field.value", `must be at most ${issue.maximum}`);
    default:
      return value("field.value", issue.message);
  }
}

function oneOf(values: string[], input: unknown, value: (code: ProblemCode, message: string, hint?: string) => SchemaFault[]): SchemaFault[] {
  const permissions = values.length === PERMISSIONS.length && values.every(isPermission);
  const hint = typeof input === "string" ? didYouMean(input, values) : `one of: ${values.join(", ")}`;
  return value(permissions ? "permission.unknown" : "field.value", permissions ? `unknown permission ${describe(input)}` : `${describe(input)} is not allowed here`, hint);
}

/** The alternative that the writer meant: the one whose own shape fits and that fails only further in. */
function bestBranch(issue: Extract<Issue, { code: "invalid_union" }>, path: PropertyKey[], schema: z.ZodType): SchemaFault[] | undefined {
  const meant = issue.errors.filter((issues) => issues.every((i) => i.path.length > 0 || i.code === "unrecognized_keys" || i.code === "custom"));
  const best = meant[0];
  return best === undefined || meant.length > 1 ? undefined : best.flatMap((i) => faultsOf(i, path, schema));
}

function shapes(schema: z.ZodType, path: PropertyKey[]): string {
  const keys = keysAt(schema, path);
  return keys.length === 0 || schemaAt(schema, path) === undefined ? "" : `keys that may stand here: ${keys.join(", ")}`;
}

const ARTICLES: Record<string, string> = { object: "a mapping", record: "a mapping", array: "a list", int: "a whole number", string: "text", number: "a number", boolean: "true or false" };

function article(expected: string): string {
  return ARTICLES[expected] ?? expected;
}

function describe(input: unknown): string {
  if (input === null || input === undefined) return "nothing";
  if (Array.isArray(input)) return "a list";
  if (typeof input === "object") return "a mapping";
  if (typeof input === "string") return `'${input.length > 60 ? `${input.slice(0, 60)}…` : input}'`;
  return String(input);
}
