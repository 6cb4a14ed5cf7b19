import { z } from "zod";
import { CruError } from "../contract/error.ts";
import type { Question } from "../contract/question.ts";
import { didYouMean } from "../lib/nearest.ts";

/** `name=value` pairs in the types that the action's schema wants; text stays text where the schema says so, else JSON is taken as such. */
export function typedChanges(question: Question, pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new CruError("usage", `--set needs name=value, not '${pair}'`);
      const [name, text] = [pair.slice(0, at), pair.slice(at + 1)];
      return [name, isText(question, name) ? text : fromJson(text)];
    }),
  );
}

/** Throws what is wrong with changed parameters, before the answer is recorded: the item stays open. */
export function checkChanges(question: Question, set: Readonly<Record<string, unknown>>): void {
  const keys = Object.keys(set);
  if (keys.length === 0) return;
  const input = question.action?.input;
  if (typeof input !== "object" || input === null) throw new CruError("usage", `${question.id} has no parameters to set`);
  const known = [...new Set([...Object.keys(input), ...Object.keys(properties(question))])];
  for (const key of keys) {
    if (!known.includes(key)) throw new CruError("usage", `${question.id} has no parameter '${key}'`, { hint: didYouMean(key, known) });
  }
  const fault = schemaFault(question, { ...input, ...set });
  if (fault !== undefined) throw new CruError("usage", `${question.id} would not be valid: ${fault}`, { hint: "nothing was answered; it still waits" });
}

function schemaFault(question: Question, input: Record<string, unknown>): string | undefined {
  if (question.input_schema === null) return undefined;
  let schema: z.ZodType;
  try {
    schema = z.fromJSONSchema(question.input_schema as never);
  } catch {
    // A schema of an MCP server that is beyond us; the tool checks its input itself.
    return undefined;
  }
  const parsed = schema.safeParse(input);
  const [issue] = parsed.success ? [] : parsed.error.issues;
  return issue === undefined ? undefined : `${issue.path.join(".") || "input"}: ${issue.message}`;
}

function properties(question: Question): Record<string, unknown> {
  const found = question.input_schema?.properties;
  return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
}

function isText(question: Question, name: string): boolean {
  const schemas = properties(question);
  if (Object.hasOwn(schemas, name)) return (schemas[name] as { type?: unknown } | null)?.type === "string";
  return false;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
