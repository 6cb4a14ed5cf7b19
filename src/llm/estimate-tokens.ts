import type { ModelCall } from "../contract/model-call.ts";

/** On the safe side: code and JSON have shorter tokens than prose. */
export const CHARACTERS_PER_TOKEN = 3.5;

/** A rough count for texts whose size no provider has told. */
export function estimateTokens(text: string | number): number {
  return Math.ceil((typeof text === "string" ? text.length : text) / CHARACTERS_PER_TOKEN);
}

/** What a call's prompt will count. */
export function estimatePrompt({ system, messages, tools = [] }: Pick<ModelCall, "system" | "messages"> & Partial<Pick<ModelCall, "tools">>): number {
  return estimateTokens(system.length + JSON.stringify(messages).length + (tools.length === 0 ? 0 : JSON.stringify(tools).length));
}
