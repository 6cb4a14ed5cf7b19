import { askOnce, askPermission, type PersonDeps, titleOf } from "../ask-person.ts";
import type { GatePolicy } from "../gate.ts";
import { type Message, record, records, text } from "../message.ts";
import { judge, type ToolCall } from "./gate.ts";

export type Decision = { kind: "reply"; response: Message; denied?: string } | { kind: "suspended"; inboxId: string } | { kind: "withdrawn" };

export type QuestionDeps = PersonDeps & { policy: GatePolicy };

/** Answers the CLI's permission request: by the gates where they can, else by a person. */
export async function answerToolRequest(request: Message, deps: QuestionDeps, signal: AbortSignal): Promise<Decision> {
  const call: ToolCall = { tool: text(request.tool_name), input: record(request.input), bySubagent: text(request.agent_id) !== "" };
  if (call.tool === "AskUserQuestion") return answerQuestions(call, deps, signal);
  const verdict = judge(call, deps.policy, deps.allowedAll);
  if (verdict.kind === "allow") return allow(call.input);
  if (verdict.kind === "deny") return deny(call, verdict.reason);
  const permitted = await askPermission({ ...call, title: `${call.tool}: ${titleOf(call.input)}`, reason: verdict.reason, reversible: verdict.reversible }, deps, signal);
  if (permitted.kind === "denied") return deny(call, permitted.reason);
  return permitted.kind === "allowed" ? allow(permitted.input) : permitted;
}

/** AskUserQuestion: each of its questions is one item; the answers go back by the question's own text. */
async function answerQuestions(call: ToolCall, deps: QuestionDeps, signal: AbortSignal): Promise<Decision> {
  const answers: Record<string, string> = {};
  for (const item of records(call.input.questions)) {
    const question = text(item.question);
    const options = records(item.options).map((option) => ({ label: text(option.label), description: text(option.description) }));
    const body = options.map(({ label, description }) => (description === "" ? `- ${label}` : `- ${label}: ${description}`)).join("\n");
    const asked = await askOnce("question", { ...call, input: item }, deps, (key) =>
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

function allow(input: Message): Decision {
  return { kind: "reply", response: { behavior: "allow", updatedInput: input } };
}

function deny(call: ToolCall, reason: string): Decision {
  return { kind: "reply", response: { behavior: "deny", message: reason }, denied: `${call.tool}: ${titleOf(call.input)}` };
}
