import { inertLine } from "../../lib/inert.ts";
import { askOnce, type PersonDeps } from "../ask-person.ts";
import { type Message, record, records, text } from "../message.ts";

export type Elicited = { kind: "reply"; response: Message } | { kind: "suspended"; inboxId: string };

type Field = { name: string; schema: Message; choices: { value: string; label: string; about: string }[]; several: boolean; other: string | undefined };

const DECLINE: Elicited = { kind: "reply", response: { action: "decline" } };
const MOST_FIELDS = 20;

/** A form becomes one question for each of its fields, with the field's choices as options. What is no form, or is refused, is declined. */
export async function elicit(params: Message, deps: PersonDeps, signal: AbortSignal): Promise<Elicited> {
  const fields = fieldsOf(record(params.requestedSchema));
  if (params.mode !== "form" || fields.length > MOST_FIELDS) return DECLINE;
  const content: Message = {};
  for (const field of fields) {
    const asked = await askOnce("question", { tool: "elicitation", input: { message: params.message, field: field.name, schema: field.schema } }, deps, (key) =>
      deps.ask({ key, kind: "question", title: titleOf(params, field, fields.length), body: bodyOf(field), options: field.choices.map((c) => c.label), category: field.choices.length > 0 ? "choice" : "open", reversible: true, action: null, signal }));
    if (asked.kind === "suspended") return asked;
    if (asked.answer.status !== "answered" || asked.answer.decision === "deny") return asked.answer.status === "withdrawn" ? { kind: "reply", response: { action: "cancel" } } : DECLINE;
    Object.assign(content, valueOf(field, asked.answer.text.trim()));
  }
  return { kind: "reply", response: { action: "accept", content } };
}

/** A free text that only stands beside a choice (`x_custom` beside `x`) is where an answer goes that is none of the options. */
function fieldsOf(schema: Message): Field[] {
  const all = Object.entries(record(schema.properties));
  const isBeside = (name: string): boolean => name.endsWith("_custom") && all.some(([other]) => `${other}_custom` === name);
  return all.filter(([name]) => !isBeside(name)).map(([name, value]) => {
    const field = record(value);
    const several = field.type === "array";
    const other = all.some(([one]) => one === `${name}_custom`) ? `${name}_custom` : undefined;
    return { name, schema: field, choices: choicesOf(several ? record(field.items) : field), several, other };
  });
}

function choicesOf(field: Message): Field["choices"] {
  if (field.type === "boolean") return ["yes", "no"].map((word) => ({ value: word, label: word, about: "" }));
  const listed = records(field.oneOf ?? field.anyOf).map((one) => ({ value: text(one.const), label: text(one.title) || text(one.const), about: text(one.description) }));
  const plain = Array.isArray(field.enum) ? field.enum.filter((word): word is string => typeof word === "string").map((word) => ({ value: word, label: word, about: "" })) : [];
  return [...listed, ...plain].filter((choice) => choice.value !== "").slice(0, 20);
}

function titleOf(params: Message, field: Field, count: number): string {
  const own = text(field.schema.description) || text(field.schema.title);
  return inertLine(count === 1 || own === "" ? text(params.message) : `${text(params.message)}: ${own}`, 500);
}

function bodyOf(field: Field): string {
  const lines = field.choices.map(({ label, about }) => (about === "" ? `- ${label}` : `- ${label}: ${about}`));
  return [...lines, ...(field.several ? ["", "Several may be chosen, with commas between them."] : [])].join("\n");
}

function valueOf(field: Field, answer: string): Message {
  const chosen = (word: string): string | undefined => field.choices.find((c) => [c.label, c.value].some((name) => name.toLowerCase() === word.trim().toLowerCase()))?.value;
  if (field.several) {
    const words = answer.split(",").map((word) => word.trim()).filter((word) => word !== "");
    const known = words.flatMap((word) => chosen(word) ?? []);
    const own = words.filter((word) => chosen(word) === undefined).join(", ");
    return { [field.name]: known, ...(own === "" || field.other === undefined ? {} : { [field.other]: own }) };
  }
  const value = chosen(answer);
  if (field.schema.type === "boolean") return { [field.name]: /^(?:y|yes|true|ok|1)?$/i.test(answer) };
  if ((field.schema.type === "number" || field.schema.type === "integer") && Number.isFinite(Number(answer))) return { [field.name]: Number(answer) };
  if (value === undefined && field.other !== undefined) return { [field.other]: answer };
  return { [field.name]: value ?? answer };
}
