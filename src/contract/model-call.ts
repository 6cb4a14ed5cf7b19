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
  /** A full model id. */
  model: string;
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ToolSpec[];
  toolChoice: "auto" | { tool: string };
  maxOutputTokens: number;
  signal: AbortSignal;
};

export type ModelDelta =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool_input"; callId: string; tool: string; text: string }
  /** The stream broke and starts again: what was shown of this reply is void. */
  | { type: "restart"; attempt: number; delayMs: number; reason: string };

/** `invalid` says what the model has to change; such a call is answered with an error and never runs. */
export type ModelToolCall = { callId: string; tool: string; input: unknown; invalid?: string };

export type ModelReply = {
  ok: true;
  /** Appended to the conversation as it is. */
  message: Extract<ModelMessage, { role: "assistant" }>;
  text: string;
  toolCalls: ModelToolCall[];
  stop: "end" | "tools" | "length" | "refusal" | "pause";
  tokens: Tokens;
  /** Null when the price is not known. */
  costUsd: number | null;
};

export type ModelFailure = {
  ok: false;
  kind: "auth" | "bad_request" | "context_too_long" | "rate_limit" | "overloaded" | "server" | "network" | "timeout" | "cut" | "aborted";
  message: string;
  hint: string;
  /** When a limit ends, ISO time. */
  resetAt: string | null;
  tokens: Tokens;
};

/** One streamed call with retries inside. Never throws for what the model, the network or the user's abort does. */
export type StreamModel = (call: ModelCall, onDelta: (delta: ModelDelta) => void) => Promise<ModelReply | ModelFailure>;
