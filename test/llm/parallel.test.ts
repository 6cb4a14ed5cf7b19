import { expect, it } from "vitest";
import { createStreamModel } from "../../src/llm/stream-model.ts";
import { environment, instantClock, scripted, READ_TOOL } from "../support/scripted.ts";

it("20 calls at once, each with a rule of its own, two turns and a cut, never mix", async () => {
  const agents = Array.from({ length: 20 }, (_, i) => `agent-${String(i).padStart(2, "0")}`);
  const server = await scripted({
    rules: agents.map((name, i) => ({
      name,
      match: { system: name },
      replies: [
        ...(i % 3 === 0 ? [{ text: `half of ${name}`, chunk_chars: 2, fault: { kind: "cut" as const } }] : []),
        { text: `plan of ${name}`, chunk_chars: 3, chunk_ms: i % 4, tools: [{ name: "read_file", input: { path: name }, id: `call-${name}` }] },
        { text: `answer of ${name}`, chunk_chars: 1 },
      ],
    })),
  });
  const stream = createStreamModel({ env: environment(server), clock: instantClock() });
  const answers = await Promise.all(
    agents.map(async (name, i) => {
      const call = { model: i % 2 === 0 ? "haiku" : "local/m", system: `You are ${name}.`, tools: [READ_TOOL], toolChoice: "auto" as const, maxOutputTokens: 100, signal: new AbortController().signal };
      let heard = "";
      const listen = (d: { type: string; text?: string }) => (heard = d.type === "restart" ? "" : d.type === "text" ? heard + d.text : heard);
      const first = await stream({ ...call, messages: [{ role: "user", content: "go" }] }, listen);
      if (!first.ok) return first.message;
      const results = first.toolCalls.map((c) => ({ call_id: c.callId, tool: c.tool, ok: true, output: "fine" }));
      const second = await stream({ ...call, messages: [{ role: "user", content: "go" }, first.message, { role: "tool", results }] }, listen);
      return [heard, JSON.stringify(first.toolCalls[0]?.input), second.ok ? second.text : second.message];
    }),
  );
  expect(answers).toEqual(agents.map((name) => [`plan of ${name}answer of ${name}`, `{"path":"${name}"}`, `answer of ${name}`]));
  expect(server.requests.filter((r) => r.outcome === "unmatched")).toEqual([]);
});
