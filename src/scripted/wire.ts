import type { ScriptedRequest } from "./request.ts";
import { blocksOf, inputText, type ScriptedBlock, type ScriptedReply } from "./script.ts";

/** One way of putting a reply on the wire. */
export type Wire = {
  /** SSE frames: what a fault may leave out comes in `end`. */
  events(request: ScriptedRequest, reply: ScriptedReply): { content: string[]; end: string[] };
  /** The body of a call that does not stream. */
  whole(request: ScriptedRequest, reply: ScriptedReply): object;
  error(type: string, message: string): object;
  errorEvent(type: string, message: string): string;
};

/** A text in the pieces in which it is streamed; never inside a surrogate pair. */
export function pieces(text: string, reply: ScriptedReply): string[] {
  const characters = [...text];
  const size = reply.chunk_chars ?? Math.max(8, Math.ceil(characters.length / 16));
  const found: string[] = [];
  for (let at = 0; at < characters.length; at += size) found.push(characters.slice(at, at + size).join(""));
  return found;
}

/** `input` is what was neither read from the cache nor written to it. */
export function usageOf(request: ScriptedRequest, reply: ScriptedReply) {
  const said = blocksOf(reply).map((b) => (b.type === "tool_use" ? inputText(b) : b.type === "redacted_thinking" ? b.data : b.text)).join("");
  return {
    input: reply.usage?.input ?? roughTokens(JSON.stringify(request.body)),
    output: reply.usage?.output ?? roughTokens(said),
    cache_read: reply.usage?.cache_read ?? 0,
    cache_write: reply.usage?.cache_write ?? 0,
  };
}

export function roughTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}

export function idsOf(request: ScriptedRequest, block: Extract<ScriptedBlock, { type: "tool_use" }>, index: number): string {
  // With the turn in it, a conversation that goes on with another server does not meet an id twice.
  return block.id ?? `toolu_scripted_${request.turns}_${request.index}_${index}`;
}
