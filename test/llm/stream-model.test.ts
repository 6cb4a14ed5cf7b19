import { describe, expect, it } from "vitest";
import type { ModelMessage } from "../../src/contract/model-call.ts";
import { READ_TOOL, talk, type Wire } from "../support/scripted.ts";

const WIRES: Wire[] = ["anthropic", "openai"];

describe.each(WIRES)("a call over the %s wire", (wire) => {
  it("streams text in pieces and ends with usage", async () => {
    const { reply, deltas, text } = await talk([{ text: "Hello from the model", chunk_chars: 5, usage: { input: 10, output: 7 } }], { wire });
    expect(reply).toMatchObject({ ok: true, text: "Hello from the model", toolCalls: [], stop: "end", tokens: { input: 10, output: 7 }, attempts: 1, costEstimated: false });
    expect(text).toBe("Hello from the model");
    expect(deltas.filter((d) => d.type === "text")).toHaveLength(4);
  });

  it("gives thinking, text and several tool calls, with inputs streamed in pieces", async () => {
    const { reply, deltas } = await talk(
      [{ thinking: "Let me look.", text: "I read two files.", chunk_chars: 4, tools: [{ name: "read_file", input: { path: "a.ts" }, id: "t1" }, { name: "read_file", input: { path: "b.ts" }, id: "t2" }] }],
      { wire },
    );
    expect(reply).toMatchObject({
      ok: true, stop: "tools", text: "I read two files.",
      toolCalls: [{ callId: "t1", tool: "read_file", input: { path: "a.ts" } }, { callId: "t2", tool: "read_file", input: { path: "b.ts" } }],
    });
    const typed = deltas.flatMap((d) => (d.type === "tool_input" && d.callId === "t2" ? [d.text] : []));
    expect(typed.length).toBeGreaterThan(1);
    expect(typed.join("")).toBe('{"path":"b.ts"}');
    expect(deltas.filter((d) => d.type === "thinking").map((d) => d.text).join("")).toBe("Let me look.");
  });

  it("sends results of calls back, failures as failures, and the reply's message is plain JSON", async () => {
    const first = await talk([{ text: "Reading.", tools: [{ name: "read_file", input: { path: "a" }, id: "t1" }, { name: "read_file", input: { path: "b" }, id: "t2" }] }], { wire });
    if (!first.reply.ok) throw new Error(first.reply.message);
    const persisted: ModelMessage = JSON.parse(JSON.stringify(first.reply.message));
    const messages: ModelMessage[] = [
      { role: "user", content: "go" },
      persisted,
      { role: "tool", results: [{ call_id: "t1", tool: "read_file", ok: true, output: "content of a" }, { call_id: "t2", tool: "read_file", ok: false, output: "no such file" }] },
      { role: "user", content: "also look at c" },
    ];
    const { reply, server } = await talk([{ text: "done" }], { wire, call: { messages } });
    expect(reply.ok).toBe(true);
    const sent = server.requests[0]!;
    expect(sent.turns).toBe(1);
    const wireText = JSON.stringify(sent.body.messages);
    expect(wireText).toContain("content of a");
    expect(wireText).toContain("also look at c");
    expect(wireText).toContain(wire === "anthropic" ? '"is_error":true' : "Error: no such file");
  });

  it("says what to change when a tool is unknown, its input is broken JSON, or no object", async () => {
    const { reply } = await talk(
      [{ tools: [{ name: "toString", input: {}, id: "t0" }, { name: "read_fil", input: { path: "a" }, id: "t1" }, { name: "read_file", raw: '{"path": "a', id: "t2" }, { name: "read_file", raw: "[1]", id: "t3" }, { name: "read_file", input: { path: "ok" }, id: "t4" }] }],
      { wire },
    );
    if (!reply.ok) throw new Error(reply.message);
    const invalid = Object.fromEntries(reply.toolCalls.map((c) => [c.callId, c.invalid]));
    expect(invalid.t0).toBe('There is no tool "toString". Use one of: read_file.');
    expect(invalid.t1).toBe('There is no tool "read_fil". Use one of: read_file.');
    expect(invalid.t2).toContain("not a JSON object");
    expect(invalid.t3).toContain("not a JSON object");
    expect(invalid.t4).toBeUndefined();
    expect(reply.stop).toBe("tools");
    // The broken calls go back as calls with an empty input, each with its result.
    const back = await talk([{ text: "ok" }], {
      wire,
      call: {
        messages: [{ role: "user", content: "go" }, reply.message, { role: "tool", results: reply.toolCalls.map((c) => ({ call_id: c.callId, tool: c.tool, ok: false, output: c.invalid ?? "fine" })) }],
      },
    });
    expect(back.reply.ok).toBe(true);
    const sent = JSON.stringify(back.server.requests[0]!.body.messages);
    const inputs = [...sent.matchAll(wire === "anthropic" ? /"input":(.)/g : /"arguments":"(.)/g)].map(([, first]) => first);
    expect(inputs).toEqual(["{", "{", "{", "{", "{"]);
  });

  it("marks a call that the output limit cut off, also when what is left parses", async () => {
    const cut = await talk([{ text: "a", tools: [{ name: "read_file", input: { path: "x" }, id: "t1" }, { name: "read_file", raw: '{"path":', id: "t2" }], stop: "max_tokens" }], { wire });
    if (!cut.reply.ok) throw new Error(cut.reply.message);
    expect(cut.reply.stop).toBe("length");
    expect(cut.reply.toolCalls.map((c) => [c.callId, c.invalid?.slice(0, 39)])).toEqual([["t1", undefined], ["t2", "The call was cut off at the output limi"]]);
    const empty = await talk([{ tools: [{ name: "read_file", raw: "", id: "t1" }], stop: "max_tokens" }], { wire });
    if (!empty.reply.ok) throw new Error(empty.reply.message);
    expect(empty.reply.toolCalls[0]?.invalid).toContain("output limit");
  });

  it.each([["end_turn", "end"], ["max_tokens", "length"], ["refusal", "refusal"]] as const)("stop reason %s is %s", async (stop, wanted) => {
    expect((await talk([{ text: "x", stop }], { wire })).reply).toMatchObject({ ok: true, stop: wanted });
  });

  it("forces a tool, and always sends the output limit", async () => {
    const { server } = await talk([{ tools: [{ name: "read_file", input: { path: "a" } }] }], { wire, call: { ...(wire === "anthropic" ? { model: "haiku" } : {}), toolChoice: { tool: "read_file" }, maxOutputTokens: 777 } });
    const { body } = server.requests[0]!;
    expect(body.max_tokens).toBe(777);
    expect(body.tool_choice).toMatchObject(wire === "anthropic" ? { type: "tool", name: "read_file" } : { type: "function", function: { name: "read_file" } });
  });

  it("an id that the reply or the conversation has already becomes another", async () => {
    const messages: ModelMessage[] = [
      { role: "user", content: "go" },
      { role: "assistant", content: [{ type: "tool_call", call_id: "same", tool: "read_file", input: { path: "z" } }] },
      { role: "tool", results: [{ call_id: "same", tool: "read_file", ok: true, output: "z" }] },
    ];
    const { reply, deltas } = await talk([{ tools: [{ name: "read_file", input: { path: "a" }, id: "same" }, { name: "read_file", input: { path: "b" }, id: "other" }, { name: "read_file", input: { path: "c" }, id: "other" }] }], { wire, call: { messages } });
    if (!reply.ok) throw new Error(reply.message);
    const ids = reply.toolCalls.map((c) => c.callId);
    expect(ids[0]).toBe("same_2");
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(deltas.flatMap((d) => (d.type === "tool_input" ? [d.callId] : [])))).toContain("same_2");
    expect(reply.message.content.flatMap((p) => (p.type === "tool_call" ? [p.call_id] : []))).toEqual(ids);
  });
});

describe("on Anthropic", () => {
  it("thinking goes back with its signature, redacted thinking with its data", async () => {
    const first = await talk([{ blocks: [{ type: "thinking", text: "hm", signature: "sig-1" }, { type: "redacted_thinking", data: "opaque" }, { type: "text", text: "ok" }, { type: "tool_use", name: "read_file", input: { path: "a" }, id: "t1" }] }]);
    if (!first.reply.ok) throw new Error(first.reply.message);
    const { server } = await talk([{ text: "done" }], {
      call: { messages: [{ role: "user", content: "go" }, JSON.parse(JSON.stringify(first.reply.message)), { role: "tool", results: [{ call_id: "t1", tool: "read_file", ok: true, output: "x" }] }] },
    });
    const [, assistant] = server.requests[0]!.body.messages as { content: object[] }[];
    expect(assistant!.content.slice(0, 2)).toEqual([
      { type: "thinking", thinking: "hm", signature: "sig-1" },
      { type: "redacted_thinking", data: "opaque" },
    ]);
  });

  it("caches the system prompt and the last message", async () => {
    const { server } = await talk([{ text: "x" }], { call: { messages: [{ role: "user", content: "one" }, { role: "assistant", content: [{ type: "text", text: "two" }] }, { role: "user", content: "three" }] } });
    const body = server.requests[0]!.body as { system: object[]; messages: { content: object[] }[] };
    expect(body.system.at(-1)).toMatchObject({ cache_control: { type: "ephemeral" } });
    expect(body.messages.map((m) => JSON.stringify(m).includes("cache_control"))).toEqual([false, false, true]);
  });

  it("usage counts the whole prompt and its cached parts, and is priced by them", async () => {
    const { reply } = await talk([{ text: "x", usage: { input: 10, cache_write: 20, cache_read: 30, output: 5 } }]);
    expect(reply.tokens).toEqual({ input: 60, output: 5, cache_read: 30, cache_write: 20 });
    expect(reply.costUsd).toBeCloseTo(((10 + 20 * 1.25 + 30 * 0.1) * 2 + 5 * 10) / 1e6, 12);
  });

  it("a model that refuses a forced choice is offered that tool alone", async () => {
    const other = { ...READ_TOOL, name: "write_file" };
    const { server } = await talk([{ text: "x" }], { call: { model: "sonnet", tools: [READ_TOOL, other], toolChoice: { tool: "read_file" } } });
    expect(server.requests[0]!.tools).toEqual(["read_file"]);
    const { server: forced } = await talk([{ text: "x" }], { call: { model: "haiku", tools: [READ_TOOL, other], toolChoice: { tool: "read_file" } } });
    expect(forced.requests[0]!.tools).toEqual(["read_file", "write_file"]);
    expect(forced.requests[0]!.body.tool_choice).toMatchObject({ type: "tool", name: "read_file" });
  });

  it("sends no empty text, no empty turn, no name that the API refuses, and nothing that strict gateways refuse", async () => {
    const { server, reply } = await talk([{ text: "x" }], {
      call: {
        system: "",
        messages: [
          { role: "user", content: "" },
          { role: "assistant", content: [{ type: "text", text: " " }] },
          { role: "user", content: "go" },
          { role: "assistant", content: [{ type: "text", text: "" }, { type: "tool_call", call_id: "t1", tool: "no such tool!", input: {} }] },
          { role: "tool", results: [{ call_id: "t1", tool: "no such tool!", ok: true, output: "" }] },
        ],
      },
    });
    expect(reply.ok).toBe(true);
    const { body } = server.requests[0]!;
    expect(body.system).toBeUndefined();
    expect(JSON.stringify(body.messages)).not.toMatch(/"text":" ?"/);
    expect(JSON.stringify(body.messages)).toContain('"name":"no_such_tool_"');
    expect(JSON.stringify(body)).not.toContain("eager_input_streaming");
  });

  it("pause_turn is its own stop, and a key or a bearer is sent, never both", async () => {
    expect((await talk([{ text: "x", stop: "pause_turn" }])).reply).toMatchObject({ stop: "pause" });
    const key = await talk([{ text: "x" }]);
    expect(key.server.requests[0]!.headers).toMatchObject({ "x-api-key": "sk-test-0123456789abcdef" });
    expect(key.server.requests[0]!.headers.authorization).toBeUndefined();
  });
});

describe("on an OpenAI-compatible server", () => {
  it("estimates usage when the server reports none, and says so; the price stays unknown", async () => {
    const { reply } = await talk([{ text: "x".repeat(350), usage: null }], { wire: "openai" });
    expect(reply).toMatchObject({ ok: true, costUsd: null, costEstimated: true });
    expect(reply.tokens.output).toBe(100);
    expect(reply.tokens.input).toBeGreaterThan(20);
  });

  it("goes on with tools although the server says stop, and takes a stop reason that nobody knows as the end", async () => {
    expect((await talk([{ tools: [{ name: "read_file", input: { path: "a" } }], stop: "end_turn" }], { wire: "openai" })).reply).toMatchObject({ stop: "tools" });
    expect((await talk([{ text: "x", stop: "eos" }], { wire: "openai" })).reply).toMatchObject({ stop: "end" });
  });

  it("drops thinking from the history", async () => {
    const { server } = await talk([{ text: "x" }], {
      wire: "openai",
      call: { messages: [{ role: "user", content: "a" }, { role: "assistant", content: [{ type: "thinking", text: "secret thought", signature: "s" }, { type: "text", text: "b" }] }, { role: "user", content: "c" }], tools: [READ_TOOL] },
    });
    expect(JSON.stringify(server.requests[0]!.body)).not.toContain("secret thought");
  });
});
