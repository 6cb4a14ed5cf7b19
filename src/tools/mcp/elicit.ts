import type { Ask } from "../../contract/runner.ts";
import type { Answer } from "../../contract/question.ts";
import { inert, inertLine } from "../../lib/inert.ts";
import { isRecord, type JsonSchema } from "./clean-schema.ts";
import { inputFaults } from "./input-faults.ts";

export type Elicited = { action: "accept"; content: Record<string, string | number | boolean | string[]> } | { action: "decline" };

const MOST_ROUNDS = 3;

/** Puts a server's question to a person. What cannot be asked, is refused or stays unusable is declined. */
export async function elicit(question: { server: string; message: string; schema: unknown; key: string }, ask: Ask): Promise<Elicited> {
  const schema = isRecord(question.schema) ? question.schema : {};
  const fields = Object.entries(isRecord(schema.properties) ? schema.properties : {});
  let fault = "";
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const asked = await ask({
      key: round === 1 ? question.key : `${question.key}-${round}`,
      kind: "question",
      title: `The MCP server "${question.server}" asks: ${inertLine(question.message, 500)}`,
      body: [fault, ...fields.map(([name, field]) => describeField(name, field, fields.length))].filter((line) => line !== "").join("\n"),
      options: fields.length === 1 ? choices(fields[0]?.[1]) : [],
      reversible: true,
      action: null,
    });
    if (asked.kind === "suspended" || asked.answer.status !== "answered" || asked.answer.decision === "deny") return { action: "decline" };
    const content = readAnswer(asked.answer, fields);
    const [misfit] = content === undefined ? [{ path: [], message: "give each as name=value" }] : inputFaults(content, schema);
    if (content !== undefined && misfit === undefined) return { action: "accept", content };
    fault = `The last answer did not fit: ${misfit?.path.join(".") ?? ""} ${misfit?.message ?? ""}`.replace(/ +/g, " ");
  }
  return { action: "decline" };
}

function describeField(name: string, field: unknown, count: number): string {
  const { type, description, title } = isRecord(field) ? field : ({} as JsonSchema);
  const words = [description, title].find((text) => typeof text === "string");
  const about = `${inertLine(name, 80)} (${choices(field).join(" | ") || inertLine(String(type ?? "text"), 20)})${words === undefined ? "" : `: ${inertLine(String(words), 300)}`}`;
  return count === 1 ? about : `${about}; answer with ${inert(inertLine(name, 80))}=…`;
}

function choices(field: unknown): string[] {
  if (!isRecord(field)) return [];
  if (field.type === "boolean") return ["yes", "no"];
  const listed = Array.isArray(field.enum) ? field.enum : Array.isArray(field.oneOf) ? field.oneOf.map((one) => (isRecord(one) ? one.const : undefined)) : [];
  return listed.filter((word): word is string => typeof word === "string").slice(0, 20).map((word) => inertLine(word, 200));
}

/** One field is the whole text; several come as `--set name=value`, as lines `name=value`, or as JSON. */
function readAnswer(answer: Answer, fields: readonly (readonly [string, unknown])[]): Record<string, string | number | boolean | string[]> | undefined {
  const text = answer.text.trim();
  const only = fields.length === 1 ? fields[0] : undefined;
  const given = new Map<string, unknown>(Object.entries(answer.set));
  if (only !== undefined && given.size === 0) given.set(only[0], text === "" && answer.decision === "approve" ? "yes" : text);
  if (only === undefined && given.size === 0 && text !== "" && fields.length > 0) {
    for (const [name, value] of pairs(text) ?? []) given.set(name, value);
    if (given.size === 0) return undefined;
  }
  return Object.fromEntries(fields.flatMap(([name, field]) => (given.has(name) ? [[name, typed(given.get(name), field)] as const] : [])));
}

function pairs(text: string): [string, unknown][] | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (isRecord(parsed)) return Object.entries(parsed);
  } catch {
    // Not JSON: lines then.
  }
  const lines = text.split(/\n|,\s*(?=[\w.-]+=)/).map((line) => /^\s*([\w.-]+)\s*=\s*(.*)$/.exec(line));
  return lines.includes(null) ? undefined : lines.map((match) => [match?.[1] ?? "", match?.[2] ?? ""]);
}

function typed(value: unknown, field: unknown): string | number | boolean | string[] {
  const type = isRecord(field) ? field.type : undefined;
  if (Array.isArray(value)) return value.map(String);
  if (typeof value === "boolean" || typeof value === "number") return value;
  const text = String(value);
  if (type === "boolean") return /^(?:y|yes|true|ok|1)$/i.test(text) ? true : /^(?:n|no|false|0)$/i.test(text) ? false : text;
  if ((type === "number" || type === "integer") && text !== "" && Number.isFinite(Number(text))) return Number(text);
  return type === "array" ? text.split(",").map((word) => word.trim()) : text;
}
