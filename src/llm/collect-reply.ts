import type { AssistantPart, ModelCall, ModelDelta, ModelReply, ModelToolCall, ToolSpec } from "../contract/model-call.ts";
import type { Tokens } from "../contract/usage.ts";
import type { StreamPart } from "./open-stream.ts";

/** What one attempt has said so far. */
export type Collected = {
  parts: AssistantPart[];
  calls: ModelToolCall[];
  /** Reported when the stream ended; for a cut stream only the prompt's side, from its start. */
  usage: Tokens | undefined;
  promptUsage: Tokens | undefined;
  /** Characters that were streamed, for an estimate when no usage came. */
  characters: number;
  finish: { reason: string; raw: string | undefined } | undefined;
};

export type Collector = { collected: Collected; take(part: StreamPart): void };

/** Turns stream parts into deltas for listeners and into the reply. */
export function replyCollector({ tools, messages }: Pick<ModelCall, "tools" | "messages">, onDelta: (delta: ModelDelta) => void): Collector {
  const collected: Collected = { parts: [], calls: [], usage: undefined, promptUsage: undefined, characters: 0, finish: undefined };
  const open = new Map<string, Extract<AssistantPart, { type: "text" | "thinking" }>>();
  const announced = new Map<string, { callId: string; tool: string }>();
  const taken = new Set(messages.flatMap((m) => (m.role === "assistant" ? m.content.flatMap((p) => (p.type === "tool_call" ? [p.call_id] : [])) : [])));
  const say = (delta: ModelDelta & { text: string }) => {
    if (delta.text === "") return;
    collected.characters += delta.text.length;
    onDelta(delta);
  };
  const partOf = (type: "text" | "thinking", id: string) => {
    const key = `${type} ${id}`;
    const found = open.get(key);
    if (found !== undefined) return found;
    const part = { type, text: "" };
    open.set(key, part);
    collected.parts.push(part);
    return part;
  };
  const take = (part: StreamPart): void => {
    switch (part.type) {
      case "text-delta":
        partOf("text", part.id).text += part.text;
        return say({ type: "text", text: part.text });
      case "reasoning-start":
      case "reasoning-end":
      case "reasoning-delta": {
        const thinking = partOf("thinking", part.id);
        if (part.type === "reasoning-delta") thinking.text += part.text;
        if (thinking.type === "thinking") Object.assign(thinking, seals(part.providerMetadata?.anthropic));
        return part.type === "reasoning-delta" ? say({ type: "thinking", text: part.text }) : undefined;
      }
      case "tool-input-start":
        announced.set(part.id, { callId: freeId(part.id, taken), tool: part.toolName });
        return;
      case "tool-input-delta":
        return say({ type: "tool_input", callId: part.id, tool: "", ...announced.get(part.id), text: part.delta });
      case "tool-call": {
        const call = readCall(announced.get(part.toolCallId)?.callId ?? freeId(part.toolCallId, taken), part.toolName, part.input, tools);
        announced.delete(part.toolCallId);
        collected.calls.push(call);
        collected.parts.push({ type: "tool_call", call_id: call.callId, tool: call.tool, input: call.input });
        return;
      }
      case "raw":
        collected.promptUsage ??= promptUsage(part.rawValue);
        return;
      case "finish-step":
        collected.finish = { reason: part.finishReason, raw: part.rawFinishReason };
        collected.usage = usageOf(part.usage);
        return;
      default:
    }
  };
  return { collected, take };
}

/** Why the model stopped. A call that the output limit cut off is marked, also when the cut left something that parses. */
export function stopOf(collected: Collected): ModelReply["stop"] {
  const raw = collected.finish?.raw;
  if (raw === "max_tokens" || raw === "model_context_window_exceeded" || raw === "length") {
    const last = collected.calls.at(-1);
    if (last !== undefined && collected.parts.at(-1)?.type === "tool_call") last.invalid = "The call was cut off at the output limit. Send it again with a shorter input, or split the work into several calls.";
    return "length";
  }
  if (raw === "refusal" || raw === "content_filter") return "refusal";
  if (raw === "pause_turn") return "pause";
  // Some servers say "stop" with calls in the reply.
  return collected.calls.length > 0 ? "tools" : "end";
}

export function textOf(collected: Collected): string {
  return collected.parts.flatMap((p) => (p.type === "text" ? [p.text] : [])).join("");
}

/** Some servers number the calls of each reply afresh; results and records need an id that the conversation has once. */
function freeId(id: string, taken: Set<string>): string {
  let free = id;
  for (let n = 2; taken.has(free); n++) free = `${id}_${n}`;
  taken.add(free);
  return free;
}

function readCall(callId: string, tool: string, input: unknown, tools: readonly ToolSpec[]): ModelToolCall {
  const names = tools.map((t) => t.name);
  if (!names.includes(tool)) {
    return { callId, tool, input, invalid: `There is no tool "${tool.slice(0, 64)}". ${names.length === 0 ? "No tools are available: answer in text." : `Use one of: ${names.join(", ")}.`}` };
  }
  if (isRecord(input)) return { callId, tool, input };
  return { callId, tool, input, invalid: `The input of ${tool} was not a JSON object. Send the call again with one valid JSON object.` };
}

function seals(metadata: Record<string, unknown> | undefined): { signature?: string; redacted?: string } {
  return {
    ...(typeof metadata?.signature === "string" ? { signature: metadata.signature } : {}),
    ...(typeof metadata?.redactedData === "string" ? { redacted: metadata.redactedData } : {}),
  };
}

type SdkUsage = Extract<StreamPart, { type: "finish-step" }>["usage"];

function usageOf(usage: SdkUsage): Tokens | undefined {
  if (usage.inputTokens === undefined || usage.outputTokens === undefined) return undefined;
  return tokens(usage.inputTokens, usage.outputTokens, usage.inputTokenDetails.cacheReadTokens, usage.inputTokenDetails.cacheWriteTokens);
}

/** Anthropic tells the prompt's size at the start of the stream, so an aborted call is counted too. */
function promptUsage(raw: unknown): Tokens | undefined {
  if (!isRecord(raw) || raw.type !== "message_start" || !isRecord(raw.message) || !isRecord(raw.message.usage)) return undefined;
  const usage = raw.message.usage;
  const count = (name: string) => (typeof usage[name] === "number" ? usage[name] : 0);
  const [read, write] = [count("cache_read_input_tokens"), count("cache_creation_input_tokens")];
  return tokens(count("input_tokens") + read + write, 0, read, write);
}

function tokens(input: number, output: number, read: number | undefined, write: number | undefined): Tokens {
  return { input, output, ...(read ? { cache_read: read } : {}), ...(write ? { cache_write: write } : {}) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
