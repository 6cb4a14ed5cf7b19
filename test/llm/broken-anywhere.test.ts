import { describe, expect, it } from "vitest";
import { createStreamModel } from "../../src/llm/stream-model.ts";
import { environment, instantClock, READ_TOOL, scripted, type Wire } from "../support/scripted.ts";

const FIRST = { thinking: "let me see", text: "first answer", tools: [{ name: "read_file", input: { path: "first" }, id: "c1" }], chunk_chars: 6 };
const SECOND = { text: "second answer", tools: [{ name: "read_file", input: { path: "second" }, id: "c2" }] };
const WIRES: Wire[] = ["anthropic", "openai"];

describe.each(WIRES)("a stream of the %s wire that breaks", (wire) => {
  it.each(["cut", "eof", "error", "garbage"] as const)("by %s after any event gives one whole reply, and listeners hear that reply once", async (kind) => {
    const events = 20;
    const server = await scripted({
      rules: Array.from({ length: events }, (_, k) => ({
        match: { system: `agent ${k}.` },
        replies: [{ ...FIRST, fault: { kind, after_events: k } }, SECOND],
      })),
    });
    const stream = createStreamModel({ env: environment(server), clock: instantClock() });
    const attempts: number[] = [];
    for (let k = 0; k < events; k++) {
      let text = "";
      let typed = "";
      const reply = await stream(
        { model: wire === "openai" ? "local/m" : "haiku", system: `agent ${k}.`, messages: [{ role: "user", content: "go" }], tools: [READ_TOOL], toolChoice: "auto", maxOutputTokens: 100, signal: new AbortController().signal },
        (d) => {
          if (d.type === "restart") [text, typed] = ["", ""];
          if (d.type === "text") text += d.text;
          if (d.type === "tool_input") typed += d.text;
        },
      );
      if (!reply.ok) throw new Error(`after ${k} events: ${reply.message}`);
      const word = reply.attempts === 1 ? "first" : "second";
      expect([k, reply.text, text, typed, reply.toolCalls]).toEqual([
        k, `${word} answer`, `${word} answer`, `{"path":"${word}"}`, [{ callId: word === "first" ? "c1" : "c2", tool: "read_file", input: { path: word } }],
      ]);
      attempts.push(reply.attempts);
    }
    expect(attempts[0]).toBe(2);
    expect(attempts.filter((n) => n === 2).length).toBeGreaterThanOrEqual(10);
  });
});
