import type { ModelMessage as SdkMessage, SystemModelMessage } from "ai";
import type { AssistantPart, ModelCall, ModelMessage } from "../contract/model-call.ts";
import type { Provider } from "./provider.ts";

type Prompt = { system?: SystemModelMessage; messages: SdkMessage[] };
type SdkAssistantPart = Exclude<Extract<SdkMessage, { role: "assistant" }>["content"], string>[number];

const CACHED = { anthropic: { cacheControl: { type: "ephemeral" as const } } };

/** The conversation in the SDK's words. On Anthropic the prompt is cached up to the system prompt and up to the last message. */
export function toPrompt(call: Pick<ModelCall, "system" | "messages">, kind: Provider["kind"]): Prompt {
  const cached = kind === "anthropic" ? { providerOptions: CACHED } : {};
  const messages = call.messages.flatMap((message) => toSdk(message, kind));
  const last = messages.pop();
  if (last !== undefined) messages.push({ ...last, ...cached });
  return { ...(call.system.trim() === "" ? {} : { system: { role: "system", content: call.system, ...cached } }), messages };
}

function toSdk(message: ModelMessage, kind: Provider["kind"]): SdkMessage[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: [{ type: "text", text: orPlaceholder(message.content, "(empty message)") }] }];
    case "assistant": {
      const content = message.content.flatMap((part) => toSdkPart(part, kind));
      return content.length === 0 ? [] : [{ role: "assistant", content }];
    }
    case "tool":
      return message.results.length === 0
        ? []
        : [
            {
              role: "tool",
              content: message.results.map((r) => ({ type: "tool-result", toolCallId: r.call_id, toolName: wireName(r.tool), output: toSdkOutput(r, kind) })),
            },
          ];
  }
}

function toSdkPart(part: AssistantPart, kind: Provider["kind"]): SdkAssistantPart[] {
  switch (part.type) {
    case "text":
      // An empty text block is refused by the API.
      return part.text.trim() === "" ? [] : [{ type: "text", text: part.text }];
    case "thinking": {
      if (kind !== "anthropic") return [];
      if (part.redacted !== undefined) return [{ type: "reasoning", text: "", providerOptions: { anthropic: { redactedData: part.redacted } } }];
      if (part.signature === undefined) return [];
      return [{ type: "reasoning", text: part.text, providerOptions: { anthropic: { signature: part.signature } } }];
    }
    case "tool_call":
      return [{ type: "tool-call", toolCallId: part.call_id, toolName: wireName(part.tool), input: isRecord(part.input) ? part.input : {} }];
  }
}

function toSdkOutput(result: { ok: boolean; output: string }, kind: Provider["kind"]) {
  const value = orPlaceholder(result.output, "(no output)");
  if (result.ok) return { type: "text" as const, value };
  // Chat completions have no error flag.
  return { type: "error-text" as const, value: kind === "openai" ? `Error: ${value}` : value };
}

/** A model may call a tool by a name that the API would refuse to read back, or that the SDK loses: it looks names up in a plain object, where `toString` is found. */
function wireName(tool: string): string {
  const name = tool.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  return name === "" || name in Object.prototype ? `_${name}` : name;
}

/** The API takes only objects back; what the model sent instead stays in the record. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function orPlaceholder(text: string, placeholder: string): string {
  return text.trim() === "" ? placeholder : text;
}
