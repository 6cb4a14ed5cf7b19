import type { Tokens } from "./usage.ts";

/** A conversation as it is kept in the record: plain JSON, the same for every provider. */
export type ModelMessage =
  | { role: "user"; content: string }
  | { role: "assistant"; content: AssistantPart[] }
  | { role: "tool"; results: { call_id: string; tool: string; ok: boolean; output: string }[] };

export type AssistantPart =
  | { type: "text"; text: string }
  /** Signature and redacted data go back to the provider unchanged. */
  | { type: "thinking"; text: string; signature?: string; redacted?: string }
  | { type: "tool_call"; call_id: string; tool: string; input: unknown };

export type ToolSpec = { name: string; description: string; inputSchema: Record<string, unknown> };

export type ModelCall = {
  /** An alias or a full id, with the provider in front where the id does not tell it (`local/qwen3:8b`). */
  model: string;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ToolSpec[];
  /** Some models (sonnet and opus 5.5) take no forced choice: they are offered that tool alone, so ask for it in words too and look at the reply. */
  toolChoice: "auto" | { tool: string };
  maxOutputTokens: number;
  signal: AbortSignal;
};

export type ModelDelta =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool_input"; callId: string; tool: string; text: string }
  /** Attempt number `attempt` begins after `delayMs`: what was shown of this reply, if anything, is void. */
  | { type: "restart"; attempt: number; delayMs: number; reason: string };

/** `input` is as the model sent it, a text when it was no JSON. `invalid` says what the model has to change; such a call is answered with an error and never runs. */
export type ModelToolCall = { callId: string; tool: string; input: unknown; invalid?: string };

/** What a call used, all its attempts together. A cut attempt is billed as well, and counted by estimate. */
type Spend = {
  tokens: Tokens;
  /** Null when the price is not known. */
  costUsd: number | null;
  costEstimated: boolean;
  attempts: number;
};

export type ModelReply = Spend & {
  ok: true;
  /** Appended to the conversation as it is. */
  message: Extract<ModelMessage, { role: "assistant" }>;
  text: string;
  toolCalls: ModelToolCall[];
  stop: "end" | "tools" | "length" | "refusal" | "pause";
};

export type ModelFailure = Spend & {
  ok: false;
  kind: "auth" | "bad_request" | "context_too_long" | "rate_limit" | "overloaded" | "server" | "network" | "timeout" | "cut" | "aborted";
  /** One line, without keys and without the prompt. */
  message: string;
  hint: string;
  /** When a limit ends, ISO time. */
  resetAt: string | null;
  /** What the last attempt had streamed. */
  partialText: string;
};

/** One streamed call with retries inside. Never throws for what the model, the network or the user's abort does; a `CruError` for a model or provider that must be set. */
export type StreamModel = (call: ModelCall, onDelta: (delta: ModelDelta) => void) => Promise<ModelReply | ModelFailure>;
