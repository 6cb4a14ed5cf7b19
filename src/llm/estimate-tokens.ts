import type { ModelCall } from "../contract/model-call.ts";

const CHARACTERS_PER_TOKEN = 4;

/** A rough count for texts whose size no provider has told. */
export function estimateTokens(text: string | number): number {
  return Math.ceil((typeof text === "string" ? text.length : text) / CHARACTERS_PER_TOKEN);
}

/** What a call's prompt will count, tools included. */
export function estimatePrompt(call: Pick<ModelCall, "system" | "messages" | "tools">): number {
  return estimateTokens(call.system) + estimateTokens(JSON.stringify(call.messages)) + estimateTokens(JSON.stringify(call.tools));
}
