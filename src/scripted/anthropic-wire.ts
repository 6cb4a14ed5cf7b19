import type { ScriptedRequest } from "./request.ts";
import { blocksOf, inputText, type ScriptedBlock, type ScriptedReply, stopOf } from "./script.ts";
import { idsOf, pieces, usageOf, type Wire } from "./wire.ts";

export const anthropicWire: Wire = {
  events(request, reply) {
    const usage = anthropicUsage(request, reply);
    const content = blocksOf(reply).flatMap((block, index) => blockEvents(request, reply, block, index));
    const head = { ...envelope(request), content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } };
    return {
      content: [frame({ type: "message_start", message: head }), frame({ type: "ping" }), ...content],
      end: [
        frame({ type: "message_delta", delta: { stop_reason: stopOf(reply), stop_sequence: null }, usage: { output_tokens: usage.output_tokens } }),
        frame({ type: "message_stop" }),
      ],
    };
  },
  whole(request, reply) {
    const content = blocksOf(reply).map((block, index) => wholeBlock(request, block, index));
    return { ...envelope(request), content, stop_reason: stopOf(reply), stop_sequence: null, usage: anthropicUsage(request, reply) };
  },
  error: (type, message) => ({ type: "error", error: { type, message } }),
  errorEvent: (type, message) => frame({ type: "error", error: { type, message } }),
};

function envelope(request: ScriptedRequest) {
  return { id: `msg_scripted_${request.index}`, type: "message", role: "assistant", model: request.model };
}

function anthropicUsage(request: ScriptedRequest, reply: ScriptedReply) {
  const usage = usageOf(request, reply);
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cache_write,
    cache_read_input_tokens: usage.cache_read,
    output_tokens: usage.output,
  };
}

function blockEvents(request: ScriptedRequest, reply: ScriptedReply, block: ScriptedBlock, index: number): string[] {
  const start = (content_block: object) => frame({ type: "content_block_start", index, content_block });
  const delta = (value: object) => frame({ type: "content_block_delta", index, delta: value });
  const stop = frame({ type: "content_block_stop", index });
  switch (block.type) {
    case "text":
      return [start({ type: "text", text: "" }), ...pieces(block.text, reply).map((text) => delta({ type: "text_delta", text })), stop];
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...pieces(block.text, reply).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: signatureOf(request, block, index) }),
        stop,
      ];
    case "redacted_thinking":
      return [start({ type: "redacted_thinking", data: block.data }), stop];
    case "tool_use":
      return [
        start({ type: "tool_use", id: idsOf(request, block, index), name: block.name, input: {} }),
        ...pieces(inputText(block), reply).map((partial_json) => delta({ type: "input_json_delta", partial_json })),
        stop,
      ];
  }
}

function wholeBlock(request: ScriptedRequest, block: ScriptedBlock, index: number): object {
  if (block.type === "thinking") return { type: "thinking", thinking: block.text, signature: signatureOf(request, block, index) };
  if (block.type === "tool_use") return { type: "tool_use", id: idsOf(request, block, index), name: block.name, input: block.input ?? {} };
  return block;
}

function signatureOf(request: ScriptedRequest, block: Extract<ScriptedBlock, { type: "thinking" }>, index: number): string {
  return block.signature ?? `signature-${request.index}-${index}`;
}

function frame(event: { type: string; [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
