import { createHash } from "node:crypto";
import type { Ask, Asked } from "../../contract/runner.ts";
import type { AgentState } from "./agent-state.ts";
import { type DetectedQuestion } from "../detect-question.ts";
import { type GatePolicy, judge, type ToolCall } from "./gate.ts";
import { type Message, record, records, text } from "./message.ts";

export const QUICK_ACTIONS = ["Allow", "Deny", "Allow All"];

export type Decision = { kind: "reply"; response: Message; denied?: string } | { kind: "suspended"; inboxId: string } | { kind: "withdrawn" };

export type QuestionDeps = {
  ask: Ask;
  policy: GatePolicy;
  state: AgentState;
  /** Tools that a person allowed for the rest of this session. In memory only: it is never written anywhere. */
  allowedAll: Set<string>;
};

/** Answers the CLI's permission request: by the gates where they can, else by a person. */
export async function answerToolRequest(request: Message, deps: QuestionDeps, signal: AbortSignal): Promise<Decision> {
  const call: ToolCall = { tool: text(request.tool_name), input: record(request.input), bySubagent: text(request.agent_id) !== "" };
  if (call.tool === "AskUserQuestion") return answerQuestions(call, deps, signal);
  const verdict = judge(call, deps.policy, deps.allowedAll);
  if (verdict.kind === "allow") return allow(call.input);
  if (verdict.kind === "deny") return deny(call, verdict.reason);
  const asked = await once("permission", call, deps, (key) =>
    deps.ask({
      key, kind: "permission", title: `${call.tool}: ${titleOf(call.input)}`, body: `${verdict.reason}\n\n${JSON.stringify(call.input, null, 2)}`, options: QUICK_ACTIONS, reversible: verdict.reversible,
      action: { tool: call.tool, input: call.input }, signal,
    }));
  if (asked.kind === "suspended") return asked;
  const { answer } = asked;
  if (answer.status === "withdrawn") return { kind: "withdrawn" };
  const word = answer.text.trim().toLowerCase();
  if (answer.decision !== "approve" && !(answer.decision === "answer" && ["allow", "allow all"].includes(word))) {
    return deny(call, answer.text !== "" && word !== "deny" ? answer.text : answer.status === "expired" ? "nobody answered in time" : "the user said no");
  }
  if (word === "allow all") deps.allowedAll.add(call.tool);
  return allow({ ...call.input, ...answer.set });
}

/** AskUserQuestion: each of its questions is one item; the answers go back by the question's own text. */
async function answerQuestions(call: ToolCall, deps: QuestionDeps, signal: AbortSignal): Promise<Decision> {
  const answers: Record<string, string> = {};
  for (const item of records(call.input.questions)) {
    const question = text(item.question);
    const options = records(item.options).map((option) => ({ label: text(option.label), description: text(option.description) }));
    const body = options.map(({ label, description }) => (description === "" ? `- ${label}` : `- ${label}: ${description}`)).join("\n");
    const asked = await once("question", { ...call, input: item }, deps, (key) =>
      deps.ask({
        key, kind: "question", title: question, body: item.multiSelect === true ? `${body}\n\nSeveral may be chosen.` : body, options: options.map((o) => o.label), reversible: true, action: null,
        category: options.length > 0 ? "choice" : "open", signal,
      }));
    if (asked.kind === "suspended") return asked;
    if (asked.answer.status === "withdrawn") return { kind: "withdrawn" };
    if (asked.answer.decision === "deny") return deny(call, asked.answer.text === "" ? "the user did not answer" : asked.answer.text);
    answers[question] = asked.answer.text;
  }
  return allow({ ...call.input, answers });
}

/** A question in plain words at the end of a turn; the answer is the next message. */
export function askInWords(question: DetectedQuestion, whole: string, deps: QuestionDeps, signal: AbortSignal): Promise<Asked> {
  return once("question", { tool: "text", input: { question: question.question }, bySubagent: false }, deps, (key) =>
    deps.ask({ key, kind: "question", title: question.question, body: whole, options: question.options, category: question.category, reversible: true, action: null, signal }));
}

/**
 * Equal requests get the same key after a restart, when the CLI gives them new ids; but an answer that was used is used up, so that
 * what was allowed once is asked again the second time.
 */
async function once(kind: string, call: ToolCall, deps: QuestionDeps, ask: (key: string) => Promise<Asked>): Promise<Asked> {
  const name = createHash("sha256").update(JSON.stringify([kind, call.tool, call.input])).digest("hex").slice(0, 16);
  const { answered } = deps.state.memory;
  const asked = await ask(`${kind}:${name}:${answered[name] ?? 0}`);
  if (asked.kind === "answered") {
    answered[name] = (answered[name] ?? 0) + 1;
    deps.state.save();
  }
  return asked;
}

function allow(input: Message): Decision {
  return { kind: "reply", response: { behavior: "allow", updatedInput: input } };
}

function deny(call: ToolCall, reason: string): Decision {
  return { kind: "reply", response: { behavior: "deny", message: reason }, denied: `${call.tool}: ${titleOf(call.input)}` };
}

function titleOf(input: Message): string {
  const main = [input.command, input.file_path, input.notebook_path, input.url, input.query, input.description].find((value) => typeof value === "string");
  return text(main ?? JSON.stringify(input)).slice(0, 200);
}
