import type { LoopMemory } from "../../agent/memory.ts";
import { loopToolSpecs, toJson } from "../../agent/loop-tools.ts";
import { estimateTokens } from "../../agent/compact.ts";
import type { ModelMessage } from "../../contract/model-call.ts";
import type { AnyTool } from "../../contract/tool.ts";
import { estimateCall } from "../../llm/price.ts";
import type { AgentDeps, AgentSpec } from "./run-agent.ts";

const MOST_TOKENS = 2000;

/** The agent answers a person who wants to know more before deciding. It calls no tool, and its own conversation stays as it is. */
export function createExplain(spec: AgentSpec, tools: readonly AnyTool[], memory: LoopMemory, deps: AgentDeps): (action: { tool: string; input: unknown }, text: string) => Promise<string> {
  return async (action, text) => {
    const messages = [...asIfAnswered(memory), { role: "user" as const, content: prompt(action, text) }];
    const specs = [...tools.map((t) => ({ name: t.name, description: t.description, inputSchema: toJson(t.input) })), ...loopToolSpecs()];
    const reserved = deps.budget.reserve(estimateCall(spec.model, estimateTokens(spec.system, messages), MOST_TOKENS));
    if (!("settle" in reserved)) return "(the budget does not allow another call)";
    const reply = await deps.stream({ model: spec.model, system: spec.system, messages, tools: specs, toolChoice: "auto", maxOutputTokens: MOST_TOKENS, signal: deps.signal }, () => {});
    reserved.settle({ usd: reply.costUsd, tokens: reply.tokens });
    const who = { session_id: spec.identity.sessionId, span_id: spec.identity.spanId };
    deps.emit({ type: "agent.usage", ...who, model: spec.model, tokens: reply.tokens, cost_usd: reply.costUsd, estimated: reply.costUsd === null || reply.costEstimated });
    if (!reply.ok) return `(no answer: ${reply.message})`;
    return reply.text.trim() === "" ? "(the agent said nothing)" : reply.text;
  };
}

/** Every call needs a result before a model can be asked anything else. */
function asIfAnswered({ messages, open }: LoopMemory): ModelMessage[] {
  if (open === undefined || open.calls.length === 0) return [...messages];
  const results = open.calls.map(({ callId, tool }) => ({ call_id: callId, tool, ok: true, output: open.done.get(callId)?.output ?? "waits for the user's decision" }));
  return [...messages, { role: "tool", results }];
}

function prompt(action: { tool: string; input: unknown }, text: string): string {
  return `You asked for approval of ${action.tool} ${JSON.stringify(action.input)}. It has not run. Before deciding, the user asks:\n\n${text}\n\nAnswer in a few sentences, for a person. Call no tool.`;
}
