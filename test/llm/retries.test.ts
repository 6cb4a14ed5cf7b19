import { describe, expect, it } from "vitest";
import type { ModelDelta } from "../../src/contract/model-call.ts";
import { createStreamModel } from "../../src/llm/stream-model.ts";
import type { ScriptedReply } from "../../src/scripted/script.ts";
import { environment, instantClock, scripted, talk, type Wire } from "../support/scripted.ts";

const WIRES: Wire[] = ["anthropic", "openai"];
const GOOD: ScriptedReply = { text: "all of the answer", usage: { input: 10, output: 5 } };

describe.each(WIRES)("a call that fails over the %s wire", (wire) => {
  it.each([
    ["429", { error: { status: 429 } }],
    ["529", { error: { status: 529 } }],
    ["503", { error: { status: 503 } }],
    ["500", { error: { status: 500 } }],
    ["a gateway's web page with 502", { error: { status: 502, body: "<html>bad gateway</html>" } }],
    ["a socket closed before the headers", { fault: { kind: "cut", after_events: 0 } }],
    ["an error event at the start", { fault: { kind: "error", after_events: 0 } }],
  ] as [string, ScriptedReply][])("%s is tried again, and nothing has to be taken back", async (_, bad) => {
    const { reply, deltas, text, server } = await talk([bad, bad, GOOD], { wire });
    expect(reply).toMatchObject({ ok: true, text: "all of the answer", attempts: 3 });
    expect(text).toBe("all of the answer");
    expect(server.requests).toHaveLength(3);
    expect(deltas.slice(0, 2)).toMatchObject([{ type: "restart", attempt: 2 }, { type: "restart", attempt: 3 }]);
  });

  it.each([
    ["a socket cut in the middle", { kind: "cut" }],
    ["a body that ends cleanly too early", { kind: "eof" }],
    ["an error event in the middle", { kind: "error" }],
    ["an event that is no JSON", { kind: "garbage" }],
  ] as [string, NonNullable<ScriptedReply["fault"]>][])("%s is tried again without doubling text", async (_, fault) => {
    const half: ScriptedReply = { thinking: "hm", text: "half of the ans", tools: [{ name: "read_file", input: { path: "a" } }], fault };
    const { reply, deltas, text } = await talk([half, half, GOOD], { wire });
    expect(reply).toMatchObject({ ok: true, text: "all of the answer", toolCalls: [], attempts: 3 });
    expect(text).toBe("all of the answer");
    expect(deltas.flatMap((d) => (d.type === "restart" ? [d.attempt] : []))).toEqual([2, 3]);
    // The cut attempts were answered in part, so they are paid for.
    expect(reply.tokens.input).toBeGreaterThan(10);
    expect(reply.costEstimated).toBe(true);
  });

  it("a cut after the first word that never gets better ends as a value with the partial text", async () => {
    const { reply, waits } = await talk(() => ({ text: "half", fault: { kind: "cut" } }), { wire, deps: { retry: { maxAttempts: 3 } } });
    expect(reply).toMatchObject({ ok: false, kind: "cut", partialText: "half", attempts: 3 });
    expect(waits).toEqual([1000, 2000]);
  });

  it.each([
    [400, "bad_request", "the message says why"],
    [401, "auth", wire === "anthropic" ? "check ANTHROPIC_API_KEY" : "check OPENAI_API_KEY"],
    [403, "auth", "may not use"],
    [404, "bad_request", "does not know the model"],
    [302, "bad_request", "BASE_URL"],
  ])("%i fails at once as %s and says what to fix", async (status, kind, hint) => {
    const { reply, server } = await talk([{ error: { status, message: "because of this", headers: { location: "http://127.0.0.1:9/elsewhere" } } }], { wire });
    if (reply.ok) throw new Error("expected a failure");
    expect(reply).toMatchObject({ kind, attempts: 1, costUsd: wire === "anthropic" ? 0 : null });
    expect(reply.hint).toContain(hint);
    expect(server.requests).toHaveLength(1);
  });

  it("a refused connection is a network failure after all tries", async () => {
    const server = await scripted([]);
    await server.close();
    const waits: number[] = [];
    const stream = createStreamModel({ env: environment(server), clock: instantClock(waits), retry: { maxAttempts: 2 } });
    const reply = await stream(
      { model: wire === "openai" ? "local/x" : "sonnet", system: "", messages: [{ role: "user", content: "x" }], tools: [], toolChoice: "auto" as const, maxOutputTokens: 10, signal: new AbortController().signal },
      () => {},
    );
    expect(reply).toMatchObject({ ok: false, kind: "network", attempts: 2 });
    expect(reply.ok ? "" : reply.message).toMatch(/connection refused, ECONNREFUSED\): http:\/\/127\.0\.0\.1:\d+$/);
  });

  it.each([
    ["before the headers", { fault: { kind: "hang", after_events: 0 } }, ""],
    ["in the middle", { text: "some", fault: { kind: "hang" } }, "some"],
  ] as [string, ScriptedReply, string][])("a server that falls silent %s times out, is tried once more, then given up", async (_, hang, partialText) => {
    // The alarm rings by hand, once the server is known to be silent.
    const run = (second: ScriptedReply) => {
      let ring = () => {};
      const alarm = (_ms: number, fire: () => void) => {
        ring = fire;
        return { refresh() {}, stop() {} };
      };
      const script = (_request: unknown, call: number) => {
        const reply = call === 0 ? hang : second;
        if (reply === hang && partialText === "") setImmediate(() => ring());
        return reply;
      };
      return talk(script, { wire, deps: { clock: { ...instantClock(), alarm } }, onDelta: (d) => d.type === "text" && d.text === "some" && setImmediate(() => ring()) });
    };
    const once = await run(GOOD);
    expect(once.reply).toMatchObject({ ok: true, attempts: 2 });
    expect(once.text).toBe("all of the answer");
    expect((await run(hang)).reply).toMatchObject({ ok: false, kind: "timeout", attempts: 2, partialText, costEstimated: true });
  });

  it("the alarm is real", async () => {
    const { reply } = await talk(() => ({ fault: { kind: "hang", after_events: 0 } }), { wire, deps: { idleMs: 30, retry: { maxTimeouts: 1 } } });
    expect(reply).toMatchObject({ ok: false, kind: "timeout", attempts: 1 });
  });

  it.each([
    ["prompt is too long: 250000 tokens > 200000 maximum", 400],
    ["This model's maximum context length is 8192 tokens", 400],
    ["request too large", 413],
  ])("'%s' is a context that is too long", async (message, status) => {
    expect((await talk([{ error: { status, message } }], { wire })).reply).toMatchObject({ ok: false, kind: "context_too_long", attempts: 1 });
  });

  it("a web page instead of a stream points to the base address", async () => {
    const { reply } = await talk([{ error: { status: 200, body: "<html></html>", headers: { "content-type": "text/html" } } }], { wire });
    expect(reply).toMatchObject({ ok: false, kind: "bad_request", attempts: 1, hint: expect.stringContaining("BASE_URL") });
  });
});

describe("waiting", () => {
  it("doubles with chance in it, up to a limit", async () => {
    const clock = { ...instantClock(), random: () => 0 };
    const waits: number[] = [];
    await talk(() => ({ error: { status: 529 } }), { deps: { clock: { ...clock, sleep: async (ms) => void waits.push(ms) }, retry: { maxAttempts: 6, longestDelayMs: 6000 } } });
    expect(waits).toEqual([500, 1000, 2000, 3000, 3000]);
  });

  it.each([
    [{ "retry-after": "7" }, 7000],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after": "Sun, 01 Nov 2026 00:00:20 GMT" }, 20_000],
    [{ "retry-after": "soon" }, 1000],
    [{ "retry-after": "0" }, 1000],
  ])("honours %j", async (headers, wanted) => {
    const { waits, reply } = await talk([{ error: { status: 429, headers } }, GOOD]);
    expect(waits).toEqual([wanted]);
    expect(reply.ok).toBe(true);
  });

  it.each([
    [429, { "retry-after": "3600" }, "rate_limit", "2026-11-01T01:00:00.000Z"],
    [529, { "retry-after": "600" }, "overloaded", "2026-11-01T00:10:00.000Z"],
    [429, { "anthropic-ratelimit-unified-reset": String(Date.parse("2026-11-01T05:00:00Z") / 1000) }, "rate_limit", "2026-11-01T05:00:00.000Z"],
  ])("%i with %j does not wait here but says when it resets", async (status, headers, kind, resetAt) => {
    const { reply, waits, server } = await talk([{ error: { status, headers: headers as Record<string, string> } }, GOOD]);
    expect(reply).toMatchObject({ ok: false, kind, resetAt, attempts: 1 });
    expect(waits).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it("does not repeat what the server says is final, nor a quota that is used up", async () => {
    expect((await talk([{ error: { status: 500, headers: { "x-should-retry": "false" } } }])).reply).toMatchObject({ ok: false, kind: "server", attempts: 1 });
    expect((await talk([{ error: { status: 429, type: "insufficient_quota" } }], { wire: "openai" })).reply).toMatchObject({ ok: false, kind: "auth", attempts: 1 });
    expect((await talk([{ error: { status: 400, message: "Your credit balance is too low" } }])).reply).toMatchObject({ ok: false, kind: "auth", hint: expect.stringContaining("credit") });
  });

  it("an error event in the middle that names a mistake of ours is not repeated", async () => {
    const { reply } = await talk([{ text: "so far", fault: { kind: "error", type: "invalid_request_error", message: "no" } }]);
    expect(reply).toMatchObject({ ok: false, kind: "bad_request", attempts: 1, partialText: "so far" });
  });
});

describe.each(WIRES)("abort over the %s wire", (wire) => {
  it("before the call: no request is made", async () => {
    const { reply, server } = await talk([GOOD], { wire, call: { signal: AbortSignal.abort() } });
    expect(reply).toMatchObject({ ok: false, kind: "aborted" });
    expect(server.requests).toEqual([]);
  });

  it.each([undefined, new Error("my own reason"), "a text"])("while the server is silent, with reason %s, and the server sees it", async (reason) => {
    const server = await scripted([{ fault: { kind: "hang", after_events: 0 } }]);
    const controller = new AbortController();
    const pending = createStreamModel({ env: environment(server) })(
      { model: wire === "openai" ? "local/x" : "sonnet", system: "", messages: [{ role: "user", content: "x" }], tools: [], toolChoice: "auto" as const, maxOutputTokens: 10, signal: controller.signal },
      () => {},
    );
    await server.arrived(1);
    controller.abort(reason);
    expect(await pending).toMatchObject({ ok: false, kind: "aborted", attempts: 1 });
    await expect.poll(() => server.requests[0]!.outcome).toBe("gone");
  });

  it.each([undefined, new Error("my own reason")])("in the middle of a reply, with reason %s, keeps the partial text and counts the prompt", async (reason) => {
    const controller = new AbortController();
    const { reply, text, server } = await talk([{ text: "abcdefgh".repeat(10), chunk_chars: 8, usage: { input: 100, output: 50 }, fault: { kind: "hang", after_events: 6 } }], {
      wire,
      call: { signal: controller.signal },
      onDelta: (d) => d.type === "text" && controller.abort(reason),
    });
    expect(reply).toMatchObject({ ok: false, kind: "aborted", attempts: 1, costEstimated: true });
    expect(text).toMatch(/^abcdefgh/);
    expect(reply.ok ? "" : reply.partialText).toBe(text);
    // Anthropic has told the prompt's size by then; the others are estimated.
    expect(reply.tokens.input).toBeGreaterThanOrEqual(wire === "anthropic" ? 100 : 1);
    expect(reply.tokens.output).toBeGreaterThan(0);
    await expect.poll(() => server.requests[0]!.outcome).toBe("gone");
  });

  it("while waiting for the next try", async () => {
    const controller = new AbortController();
    const deltas: ModelDelta[] = [];
    const server = await scripted([{ error: { status: 529, headers: { "retry-after": "50" } } }, GOOD]);
    const reply = await createStreamModel({ env: environment(server) })(
      { model: wire === "openai" ? "local/x" : "sonnet", system: "", messages: [{ role: "user", content: "x" }], tools: [], toolChoice: "auto" as const, maxOutputTokens: 10, signal: controller.signal },
      (delta) => {
        deltas.push(delta);
        setImmediate(() => controller.abort());
      },
    );
    expect(deltas).toMatchObject([{ type: "restart", delayMs: 50_000 }]);
    expect(reply).toMatchObject({ ok: false, kind: "aborted", attempts: 1 });
    expect(server.requests).toHaveLength(1);
  });
});

describe("what an error may say", () => {
  const KEY = "sk-test-0123456789abcdef";
  const PROMPT = "the whole secret prompt of the user, word for word";

  it.each(WIRES)("neither the key nor the prompt, on %s", async (wire) => {
    for (const error of [
      { status: 401, message: `invalid key ${KEY} for ${PROMPT}` },
      { status: 400, body: `echo of ${KEY}: ${PROMPT} ${"x".repeat(5000)}` },
      { status: 400, message: `other sk-ant-zzzzzzzzzzzzzzzzzzzz, Bearer abcdefgh12345678, \u001b[31m\nsecond line` },
    ]) {
      const { reply } = await talk([{ error }], { wire, call: { messages: [{ role: "user", content: PROMPT }] } });
      const said = JSON.stringify(reply);
      expect(said).not.toContain(KEY);
      expect(said).not.toContain(PROMPT);
      expect(said).not.toMatch(/zzzzzzzz|abcdefgh12345678|\\u001b|\\n/);
      expect(reply.ok ? "" : reply.message.length).toBeLessThanOrEqual(300);
    }
  });

  it("a listener's own fault is not taken for the server's, and the connection is closed", async () => {
    const server = await scripted([{ text: "some", fault: { kind: "hang" } }]);
    const broken = createStreamModel({ env: environment(server) })(
      { model: "sonnet", system: "", messages: [{ role: "user", content: "x" }], tools: [], toolChoice: "auto", maxOutputTokens: 10, signal: new AbortController().signal },
      () => {
        throw new TypeError("a bug in the listener");
      },
    );
    await expect(broken).rejects.toThrow("a bug in the listener");
    await expect.poll(() => server.requests[0]!.outcome).toBe("gone");
    expect(server.requests).toHaveLength(1);
  });

  it("a conversation that lacks the result of a call is refused before it is sent", async () => {
    const { reply, server } = await talk([GOOD], { call: { messages: [{ role: "user", content: "x" }, { role: "assistant", content: [{ type: "tool_call", call_id: "t", tool: "read_file", input: {} }] }, { role: "user", content: "y" }] } });
    expect(reply).toMatchObject({ ok: false, kind: "bad_request", attempts: 1 });
    expect(server.requests).toEqual([]);
  });
});
