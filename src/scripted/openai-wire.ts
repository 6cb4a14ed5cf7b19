import type { ScriptedRequest } from "./request.ts";
import { blocksOf, inputText, type ScriptedReply, stopOf } from "./script.ts";
import { idsOf, pieces, usageOf, type Wire } from "./wire.ts";

const FINISH: Record<string, string> = { end_turn: "stop", stop_sequence: "stop", tool_use: "tool_calls", max_tokens: "length", refusal: "content_filter" };

/** Chat completions, as OpenAI-compatible servers stream them. */
export const openaiWire: Wire = {
  events(request, reply) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      frame({ ...envelope(request, "chat.completion.chunk"), choices: [{ index: 0, delta, finish_reason }] });
    const content: string[] = [chunk({ role: "assistant", content: "" })];
    let call = 0;
    for (const [position, block] of blocksOf(reply).entries()) {
      if (block.type === "text") content.push(...pieces(block.text, reply).map((text) => chunk({ content: text })));
      if (block.type === "thinking") content.push(...pieces(block.text, reply).map((text) => chunk({ reasoning_content: text })));
      if (block.type === "tool_use") {
        const index = call++;
        content.push(chunk({ tool_calls: [{ index, id: idsOf(request, block, position), type: "function", function: { name: block.name, arguments: "" } }] }));
        content.push(...pieces(inputText(block), reply).map((text) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })));
      }
    }
    const usage = wantsUsage(request) && reply.usage !== null ? [frame({ ...envelope(request, "chat.completion.chunk"), choices: [], usage: openaiUsage(request, reply) })] : [];
    return { content, end: [chunk({}, finishOf(reply)), ...usage, "data: [DONE]\n\n"] };
  },
  whole(request, reply) {
    const blocks = blocksOf(reply);
    const text = blocks.flatMap((b) => (b.type === "text" ? [b.text] : [])).join("");
    const tool_calls = blocks.flatMap((b, i) =>
      b.type === "tool_use" ? [{ id: idsOf(request, b, i), type: "function", function: { name: b.name, arguments: inputText(b) } }] : [],
    );
    const message = { role: "assistant", content: text, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
    return {
      ...envelope(request, "chat.completion"),
      choices: [{ index: 0, message, finish_reason: finishOf(reply) }],
      ...(reply.usage === null ? {} : { usage: openaiUsage(request, reply) }),
    };
  },
  error: (type, message) => ({ error: { message, type, param: null, code: type } }),
  errorEvent: (type, message) => frame({ error: { message, type, param: null, code: type } }),
};

function envelope(request: ScriptedRequest, object: string) {
  return { id: `chatcmpl-scripted-${request.index}`, object, created: 0, model: request.model };
}

/** A stop reason that has no twin is sent as it stands. */
function finishOf(reply: ScriptedReply): string {
  const stop = stopOf(reply);
  return FINISH[stop] ?? stop;
}

function wantsUsage(request: ScriptedRequest): boolean {
  const options = request.body.stream_options;
  return typeof options === "object" && options !== null && "include_usage" in options && options.include_usage === true;
}

function openaiUsage(request: ScriptedRequest, reply: ScriptedReply) {
  const usage = usageOf(request, reply);
  const prompt = usage.input + usage.cache_read + usage.cache_write;
  return { prompt_tokens: prompt, completion_tokens: usage.output, total_tokens: prompt + usage.output, prompt_tokens_details: { cached_tokens: usage.cache_read } };
}

function frame(event: object): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
