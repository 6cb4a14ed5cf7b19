import type { RecordedReply } from "../../agent/memory.ts";
import type { CruEvent } from "../../contract/event.ts";
import type { ModelFailure, ModelReply } from "../../contract/model-call.ts";

/** What the model said then, in the form in which the loop gets it. */
export function recordedReply(event: Extract<CruEvent, { type: "model.reply" }>): ModelReply | ModelFailure {
  const reply = event.reply as RecordedReply;
  const used = {
    tokens: reply.tokens ?? { input: 0, output: 0 }, costUsd: reply.cost_usd ?? null, costEstimated: reply.cost_estimated ?? true, attempts: reply.attempts ?? 1,
  };
  if (reply.ok) {
    const stop = reply.stop ?? (reply.tool_calls.length > 0 ? "tools" : "end");
    return { ok: true, message: reply.message, text: reply.text, toolCalls: reply.tool_calls, stop, ...used };
  }
  return { ok: false, kind: reply.kind as ModelFailure["kind"], message: reply.message, hint: reply.hint ?? "", resetAt: null, partialText: "", ...used };
}
