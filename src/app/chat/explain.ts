import { modelCaller, type ModelDeps } from "../../agent/ask-model.ts";
import type { OpenReply } from "../../agent/memory.ts";
import type { ModelMessage } from "../../contract/model-call.ts";
import type { Ask } from "../../contract/runner.ts";

/** What an agent has said and seen so far; its last reply may still wait for results. */
export type SoFar = { messages: readonly ModelMessage[]; open: OpenReply | undefined };

export type ExplainInput = { model: string; system: string; soFar: SoFar; title: string; text: string };

/** One call of the agent about the action that it waits for: its conversation as text, the person's question, no tools. Never throws. */
export async function explainAction(input: ExplainInput, deps: Omit<ModelDeps, "ask" | "purpose" | "onDelta">): Promise<string> {
  const setup = { model: input.model, system: input.system, tools: [], maxOutputTokens: 2000 };
  const question = `You wait for the user's decision about this action: ${input.title}\nBefore deciding, the user asks: ${input.text}\nAnswer the question in plain words, shortly. Do not decide anything.`;
  const call = modelCaller(setup, { ...deps, onDelta: () => {}, purpose: "explanation", ask: withoutAsking });
  const reply = await call(asText(input.soFar, question));
  if (reply.ok === true) return reply.text;
  return `the agent could not answer: ${reply.ok === "suspended" ? "the budget is used up" : reply.message}`;
}

/** A side question is not worth a question about money. */
export const withoutAsking: Ask = async ({ key }) => ({
  kind: "answered",
  answer: { v: 1, id: key, action_hash: "", status: "answered", decision: "deny", text: "", set: {}, scope: "once", by: "policy", answered_at: "" },
});

/** Providers refuse calls and results in a conversation that offers no tools, so they are told as text. */
function asText({ messages, open }: SoFar, question: string): ModelMessage[] {
  const told: ModelMessage[] = [];
  const user = (content: string): void => {
    const last = told.at(-1);
    if (last?.role === "user") told[told.length - 1] = { role: "user", content: `${last.content}\n\n${content}` };
    else told.push({ role: "user", content });
  };
  for (const message of messages) {
    if (message.role === "user") user(message.content);
    else if (message.role === "tool") user(message.results.map((r) => `[result of ${r.tool}] ${r.output}`).join("\n"));
    else {
      const text = message.content.flatMap((p) => (p.type === "text" ? [p.text] : p.type === "tool_call" ? [`[calls ${p.tool} ${JSON.stringify(p.input)}]`] : [])).join("\n");
      told.push({ role: "assistant", content: [{ type: "text", text: text === "" ? "…" : text }] });
    }
  }
  for (const done of open?.done.values() ?? []) user(`[result of ${done.tool}] ${done.output}`);
  user(question);
  return told;
}
