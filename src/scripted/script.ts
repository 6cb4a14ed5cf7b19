import { z } from "zod";
import type { ScriptedRequest } from "./request.ts";

/** What a scripted model says and how it misbehaves. Plain JSON; strict, so that a typing error in a script is found. */
const blockSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({ type: z.literal("thinking"), text: z.string(), signature: z.string().optional() }),
  z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() }),
  z.strictObject({
    type: z.literal("tool_use"),
    name: z.string(),
    input: z.unknown().optional(),
    id: z.string().optional(),
    raw: z.string().optional().describe("Sent as the input's text instead of `input`: broken or truncated JSON"),
  }),
]);

export const replySchema = z.strictObject({
  /** Short forms, sent in this order: thinking, text, tools. `blocks` gives any other order. */
  thinking: z.string().optional(),
  text: z.string().optional(),
  tools: z.array(z.strictObject({ name: z.string(), input: z.unknown().optional(), id: z.string().optional(), raw: z.string().optional() })).optional(),
  blocks: z.array(blockSchema).optional(),
  stop: z.string().optional().describe("Anthropic stop_reason; default tool_use when there is a tool block, else end_turn"),
  usage: z
    .strictObject({
      input: z.int().min(0).optional(),
      output: z.int().min(0).optional(),
      cache_read: z.int().min(0).optional(),
      cache_write: z.int().min(0).optional(),
    })
    .nullish()
    .describe("Default: counted from the texts; null: the server reports none"),
  delay_ms: z.number().min(0).optional().describe("Wait before the headers"),
  chunk_ms: z.number().min(0).optional().describe("Wait before each event"),
  chunk_chars: z.int().min(1).optional().describe("Characters in each streamed piece"),
  error: z
    .strictObject({
      status: z.int().min(200).max(599),
      type: z.string().optional(),
      message: z.string().optional(),
      headers: z.record(z.string(), z.string()).optional(),
      body: z.string().optional().describe("The whole body, instead of the usual error JSON"),
    })
    .optional(),
  fault: z
    .strictObject({
      /** cut: the socket is destroyed; eof: the body ends cleanly; hang: nothing more comes; error: an `error` event; garbage: an event that is not JSON. */
      kind: z.enum(["cut", "eof", "hang", "error", "garbage"]),
      after_events: z.int().min(0).optional().describe("Events sent before it (0: not even headers for cut and hang); default: all of the content"),
      type: z.string().optional(),
      message: z.string().optional(),
    })
    .optional(),
});

const matchSchema = z.strictObject({
  system: z.string().optional().describe("Text that the system prompt holds"),
  first_user: z.string().optional().describe("Text that the first user message holds: an agent's task"),
  last_user: z.string().optional().describe("Text that the last user message holds, tool results included"),
  any_user: z.string().optional(),
  model: z.string().optional(),
  tool: z.string().optional().describe("Name of a tool that is offered"),
});

const ruleSchema = z.strictObject({
  name: z.string().optional(),
  match: matchSchema,
  replies: z.array(replySchema),
  by: z
    .enum(["call", "turn"])
    .optional()
    .describe("call (default): the rule's own counter chooses the reply; turn: the number of assistant messages in the request does, so that equal agents at once and resumed ones never mix"),
  repeat_last: z.boolean().optional(),
});

export const scriptSchema = z.union([z.array(replySchema), z.strictObject({ rules: z.array(ruleSchema) })]);

export type ScriptedBlock = z.infer<typeof blockSchema>;
export type ScriptedReply = z.infer<typeof replySchema>;
export type ScriptedRule = z.infer<typeof ruleSchema>;
/** In this process a rule may compute its replies. `callIndex` counts the calls of that rule, or of the whole script. */
export type ReplyFunction = (request: ScriptedRequest, callIndex: number) => ScriptedReply | Promise<ScriptedReply>;
export type Script = z.infer<typeof scriptSchema> | ReplyFunction | { rules: (ScriptedRule | (Omit<ScriptedRule, "replies"> & { replies: ReplyFunction }))[] };

/** The reply's content in the order in which it is sent. */
export function blocksOf(reply: ScriptedReply): ScriptedBlock[] {
  return [
    ...(reply.thinking === undefined ? [] : [{ type: "thinking" as const, text: reply.thinking }]),
    ...(reply.text === undefined ? [] : [{ type: "text" as const, text: reply.text }]),
    ...(reply.tools ?? []).map((t) => ({ type: "tool_use" as const, ...t })),
    ...(reply.blocks ?? []),
  ];
}

export function stopOf(reply: ScriptedReply): string {
  return reply.stop ?? (blocksOf(reply).some((b) => b.type === "tool_use") ? "tool_use" : "end_turn");
}

export function inputText(block: Extract<ScriptedBlock, { type: "tool_use" }>): string {
  return block.raw ?? JSON.stringify(block.input ?? {});
}
