import { createHash } from "node:crypto";
import type { Answer } from "../contract/question.ts";
import type { Ask, Asked } from "../contract/runner.ts";
import type { AgentMemory } from "./agent-memory.ts";
import type { DetectedQuestion } from "./detect-question.ts";
import { type Message, text } from "./message.ts";

export const QUICK_ACTIONS = ["Allow", "Deny", "Allow All"];

export type PersonDeps = {
  ask: Ask;
  memory: AgentMemory;
  /** Tools that a person allowed for the rest of this session. In memory only: it is never written anywhere. */
  allowedAll: Set<string>;
};

/** `title` is how the call is shown, and what a denial is recorded under. */
export type AskedCall = { tool: string; input: Message; title: string; reason: string; reversible: boolean };

export type Permitted = { kind: "allowed"; input: Message } | { kind: "denied"; reason: string; /** What the person wants instead, when they said so. */ wish?: string } | { kind: "suspended"; inboxId: string } | { kind: "withdrawn" };

/** Asks for one call, with Allow, Deny and Allow All; the answer may change the call's input. */
export async function askPermission(call: AskedCall, deps: PersonDeps, signal: AbortSignal): Promise<Permitted> {
  const asked = await askOnce("permission", call, deps, (key) =>
    deps.ask({
      key, kind: "permission", title: call.title, body: `${call.reason}\n\n${JSON.stringify(call.input, null, 2)}`, options: QUICK_ACTIONS, reversible: call.reversible,
      action: { tool: call.tool, input: call.input }, signal,
    }));
  if (asked.kind === "suspended") return asked;
  const { answer } = asked;
  if (answer.status === "withdrawn") return { kind: "withdrawn" };
  const word = answer.text.trim().toLowerCase();
  if (answer.decision !== "approve" && !(answer.decision === "answer" && ["allow", "allow all"].includes(word))) {
    if (answer.text !== "" && word !== "deny") return { kind: "denied", reason: answer.text, wish: answer.text };
    return { kind: "denied", reason: answer.status === "expired" ? "nobody answered in time" : "the user said no" };
  }
  if (word === "allow all") deps.allowedAll.add(call.tool);
  return { kind: "allowed", input: { ...call.input, ...answer.set } };
}

/** A question in plain words at the end of a turn; the answer is the next message. */
export function askInWords(question: DetectedQuestion, whole: string, deps: PersonDeps, signal: AbortSignal): Promise<Asked> {
  return askOnce("question", { tool: "text", input: { question: question.question } }, deps, (key) =>
    deps.ask({ key, kind: "question", title: question.question, body: whole, options: question.options, category: question.category, reversible: true, action: null, signal }));
}

/** What the agent is told then. */
export function answerInWords(answer: Answer): string {
  return answer.decision === "deny" ? `There is no answer${answer.text === "" ? "" : `: ${answer.text}`}. Decide yourself, or report that you cannot go on.` : answer.text;
}

/**
 * Equal requests get the same key after a restart, when the program gives them new ids; but an answer that was used is used up, so that
 * what was allowed once is asked again the second time.
 */
export async function askOnce(kind: string, about: { tool: string; input: Message }, deps: PersonDeps, ask: (key: string) => Promise<Asked>): Promise<Asked> {
  const name = createHash("sha256").update(JSON.stringify([kind, about.tool, about.input])).digest("hex").slice(0, 16);
  const { answered } = deps.memory;
  const asked = await ask(`${kind}:${name}:${answered[name] ?? 0}`);
  if (asked.kind === "answered") {
    answered[name] = (answered[name] ?? 0) + 1;
    deps.memory.save();
  }
  return asked;
}

/** The one thing of a call's input that tells a person what it is about. */
export function titleOf(input: Message): string {
  const main = [input.command, input.file_path, input.notebook_path, input.path, input.url, input.query, input.description].find((value) => typeof value === "string");
  return text(main ?? JSON.stringify(input)).slice(0, 200);
}
