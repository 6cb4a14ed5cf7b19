import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { NewEvent } from "../../src/contract/event.ts";
import { KEY, ofType, stage } from "../support/claude.ts";
import { answered } from "../support/loop.ts";
import { quirk } from "../support/quirky.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { scripted } from "../support/scripted.ts";

const limits = { maxIterations: 10, timeoutMs: 60_000, idleMs: 60_000, budgetUsd: null };

describeSandboxed("what an ACP agent does becomes events", () => {
  it("thoughts and words in whole blocks, a plan, and calls with the input that streamed in", async () => {
    const run = await quirk(`
      const thought = (text) => update('agent_thought_chunk', { content: { type: 'text', text } });
      thought('I th'); thought('ink'); say('I '); say('look.');
      update('plan', { entries: [{ content: 'Look', status: 'completed' }, { content: 'Write', status: 'in_progress' }, { content: 'Test', status: 'pending' }] });
      update('tool_call', { toolCallId: 'c1', title: 'Terminal', kind: 'execute', status: 'pending', rawInput: {} });
      update('tool_call_update', { toolCallId: 'c1', rawInput: { command: 'ls' } });
      update('tool_call_update', { toolCallId: 'c1', title: 'ls -l', rawInput: { command: 'ls -l' } });
      update('tool_call_update', { toolCallId: 'c1', status: 'in_progress' });
      update('tool_call_update', { toolCallId: 'c1', status: 'completed', content: [{ type: 'content', content: { type: 'text', text: 'a.txt' } }] });
      update('tool_call', { toolCallId: 'c2', name: 'Edit', kind: 'edit', status: 'pending', rawInput: { path: 'a.txt' } });
      update('tool_call_update', { toolCallId: 'c2', status: 'failed', rawOutput: { why: 'no' } });
      update('tool_call_update', { toolCallId: 'c2', status: 'completed' });
      finish();`);
    const told = run.events.filter((e) => ["agent.thinking", "agent.output", "agent.plan", "agent.tool_call", "agent.tool_result"].includes(e.type));
    expect(told.map(shown)).toEqual([
      "agent.thinking I think", "agent.output I look.", "agent.plan done,in_progress,pending", 'agent.tool_call execute {"command":"ls -l"}', "agent.tool_result execute true a.txt",
      'agent.tool_call Edit {"path":"a.txt"}', 'agent.tool_result Edit false {"why":"no"}', expect.stringContaining("agent.output Finished."),
    ]);
    expect(ofType(run.events, "agent.status").map((e) => e.status)).toEqual(["thinking", "writing", "running_command", "thinking", "writing", "thinking", "writing", "idle"]);
    expect(ofType(run.events, "agent.raw")).toEqual([]);
    expect(run.outcome.text).toMatch(/^Finished/);
  });

  it("a call lasts from when it was told to when its end was", async () => {
    const code = "update('tool_call', { toolCallId: 'c1', kind: 'read', status: 'in_progress' }); await ask('elicitation/create', { mode: 'form', message: 'Well?', requestedSchema: { properties: { a: { type: 'string' } } } }); update('tool_call_update', { toolCallId: 'c1', status: 'completed' }); finish()";
    const run = await quirk(code, { answer: () => new Promise((resolve) => void setTimeout(() => resolve(answered("yes")), 50)) });
    expect(ofType(run.events, "agent.tool_result")[0]?.duration_ms).toBeGreaterThanOrEqual(45);
  });

  it("tokens and the agent's own cost; a price of ours where it says none; null where nobody knows", async () => {
    const usage = "usage: { inputTokens: 100, outputTokens: 10, cachedReadTokens: 50, cachedWriteTokens: 5, totalTokens: 165 }";
    const own = await quirk(`update('usage_update', { used: 1, size: 9, cost: { amount: 0.25, currency: 'USD' } }); finish(); return { stopReason: 'end_turn', ${usage} }`);
    expect(own.outcome).toMatchObject({ tokens: { input: 155, output: 10, cache_read: 50, cache_write: 5 }, costUsd: 0.25, costEstimated: false });
    expect(ofType(own.events, "agent.usage")).toMatchObject([{ tokens: own.outcome.tokens, cost_usd: 0.25 }]);
    const ours = await quirk(`finish(); return { stopReason: 'end_turn', ${usage} }`);
    expect(ours.outcome.costEstimated).toBe(true);
    expect(ours.outcome.costUsd).toBeGreaterThan(0);
    expect((await quirk("finish()")).outcome).toMatchObject({ costUsd: null, costEstimated: true });
  });

  it("a resumed session's cost is what it used itself, whether the agent counts on or anew", async () => {
    const turn = (cost: number) => `update('usage_update', { used: 1, size: 9, cost: { amount: ${cost}, currency: 'USD' } }); finish(); return { stopReason: 'end_turn', usage: { inputTokens: 1000, outputTokens: 100, totalTokens: 1100 } }`;
    const resumed = async (cost: number): Promise<number | null> => {
      const at = stage();
      const agent = { initialize: { agentCapabilities: { loadSession: true } } };
      expect((await quirk(turn(0.003), { at, agent })).outcome.costUsd).toBe(0.003);
      return (await quirk("", { at, agent: { ...agent, otherwise: turn(cost) }, request: { resume: true } })).outcome.costUsd;
    };
    expect(await resumed(0.0061)).toBeCloseTo(0.0031, 6);
    expect(await resumed(0.0032)).toBeCloseTo(0.0032, 6);
    expect(await resumed(0.0029)).toBeCloseTo(0.0029, 6);
  });

  it("unknown updates, garbage, bytes that are no text, foreign sessions and answers that nobody asked for end nothing and are on record", async () => {
    const run = await quirk(String.raw`
      raw('not json\n'); raw(Buffer.from([0x80, 0xff, 10])); raw('[1,2]\n'); raw('{"jsonrpc":"2.0","id":99,"result":{}}\n'); raw('{"no":"rpc"}\n'); raw('{"jsonrpc":"2.0","id":0,"result":{}}\n');
      update('brand_new', { x: 1 }); send({ method: 'brand/new' }); send({ method: '_own/thing' });
      send({ method: 'session/update', params: { sessionId: 'other', update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'foreign' } } } });
      send({ method: 'session/update' }); send({ method: 'session/update', params: { sessionId: 's-1', update: { sessionUpdate: 'tool_call' } } });
      finish();`);
    expect(run.outcome.status).toBe("completed");
    expect(ofType(run.events, "agent.raw").map((e) => e.text)).toEqual([
      "not json", "��", "[1,2]", '{"jsonrpc":"2.0","id":99,"result":{}}', '{"no":"rpc"}', '{"jsonrpc":"2.0","id":0,"result":{}}', '{"sessionUpdate":"brand_new","x":1}', '{"jsonrpc":"2.0","method":"brand/new"}',
    ]);
    expect(JSON.stringify(run.events)).not.toContain("foreign");
  });

  it("a line that is too long is cut, a flood of requests is refused, and the run goes on", async () => {
    let open: () => void = () => {};
    const opened = new Promise<void>((resolve) => (open = resolve));
    const code = `raw('x'.repeat(17 << 20) + '\\n'); let refused = 0;
      const all = Array.from({ length: 200 }, () => ask('session/request_permission', { toolCall: { toolCallId: 'c', kind: 'fetch' }, options: [] }).then(({ error }) => error !== undefined && ++refused === 136 && raw('go\\n')));
      await Promise.all(all); finish(String(refused))`;
    const run = await quirk(code, {
      request: { permissions: ["FilesystemRead", "NetworkAccess"] }, answer: () => opened.then(() => answered("", "deny")), onEvent: (event) => void (event.type === "agent.raw" && event.text === "go" && open()),
    });
    expect(ofType(run.events, "agent.raw").map((e) => e.text.slice(-30))).toEqual([expect.stringMatching(/\[… \d+ bytes cut …\]$/), "go"]);
    expect(run.outcome.output?.summary).toBe("136");
  });

  it("the agent finds no key and no home, but the way to the model, where the key is added", async () => {
    const at = stage();
    const run = await quirk(
      `const { execSync } = await import('node:child_process');
       const seen = execSync("env; cat /proc/*/environ | tr '\\\\0' '\\\\n'; ls ${at.home} ${at.checkout}; cat ${at.home}/canary 2>&1 || true", { encoding: 'utf8' });
       const call = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', headers: { 'x-api-key': process.env.ANTHROPIC_API_KEY }, body: '{"model":"m","messages":[]}' });
       const other = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/files').then((r) => r.status);
       say(seen); finish(call.status + ' ' + other + ' ' + process.env.HOME)`, { at });
    expect(run.outcome.output?.summary).toBe(`400 403 ${join(at.state, "aaaaaaaaaaaaaaaa", "home")}`);
    expect(run.requests.map((r) => r.key)).toEqual([KEY]);
    const seen = JSON.stringify(run.events);
    expect(seen).toContain("ANTHROPIC_API_KEY=sk-ant-placeholder");
    expect(seen).not.toMatch(new RegExp(`${KEY}|home-canary`));
  });
});

describeSandboxed("the way of an ACP agent to an OpenAI-compatible model", () => {
  const call = (path: string, method = "POST") => `await fetch(process.env.OPENAI_BASE_URL + '${path}', { method: '${method}', headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY }, ...(${method === "POST"} ? { body: '{"model":"m","messages":[]}' } : {}) }).then((r) => r.status)`;

  it("leads through the same kind of proxy: only model calls, and the key is added outside", async () => {
    const server = await scripted([]);
    const run = await quirk(`finish([${call("/chat/completions")}, ${call("/files")}, ${call("/chat/completions", "GET")}, process.env.OPENAI_API_KEY, process.env.ANTHROPIC_API_KEY].join())`, {
      env: { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "sk-openai-secret-0123456789", OPENAI_BASE_URL: `${server.url}/v1` },
    });
    expect(run.outcome.output?.summary).toBe("400,403,403,sk-ant-placeholder-the-key-stays-outside,");
    expect(server.requests.map((r) => [r.path, r.key])).toEqual([["/v1/chat/completions", "sk-openai-secret-0123456789"]]);
  });

  it("a refused login is told at once, with the right key to check", async () => {
    const server = await scripted(() => ({ error: { status: 401, message: "no" } }));
    const run = await quirk(`${call("/chat/completions")}; await forever()`, { env: { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "sk-openai-secret-0123456789", OPENAI_BASE_URL: server.url } });
    expect(run.outcome).toMatchObject({ status: "failed", reason: "auth", error: { message: expect.stringContaining("OPENAI_API_KEY") as string } });
  });
});

describeSandboxed("how an ACP agent is opened", () => {
  it("gets the rules in its first message, the worktree as its folder, and our MCP servers", async () => {
    const at = stage();
    const mcpServers = { lab: { command: "lab", args: ["-x"], env: { K: "v" } }, web: { url: "http://127.0.0.1:1/mcp" } };
    const run = await quirk("finish(JSON.stringify(heard.slice(0, 2).map((m) => m.params)))", { at, request: { system: "RULES OF THE PROJECT", mcpServers } });
    const [hello, opened] = JSON.parse(run.outcome.output?.summary ?? "[]") as Record<string, unknown>[];
    expect(hello).toMatchObject({ protocolVersion: 1, clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false, elicitation: { form: {} } } });
    expect(opened).toEqual({ cwd: at.worktree, mcpServers: [{ name: "lab", command: "lab", args: ["-x"], env: [{ name: "K", value: "v" }] }] });
    expect(ofType(run.events, "warning").map((e) => e.message)).toEqual(["quirky takes no MCP servers over HTTP: web is left out"]);
    const said = await quirk("", { agent: { otherwise: "finish(prompt)" }, request: { system: "RULES OF THE PROJECT", prompt: "Do it." } });
    expect(said.outcome.output?.summary).toBe("RULES OF THE PROJECT\n\nDo it.");
  });

  it("takes the rules and HTTP servers the protocol's own way where the agent can", async () => {
    const agentCapabilities = { mcpCapabilities: { http: true }, sessionCapabilities: { systemPrompt: {} } };
    const run = await quirk("finish(JSON.stringify([heard[1].params, prompt.startsWith('RULES')]))", { agent: { initialize: { agentCapabilities } }, request: { system: "RULES", mcpServers: { web: { url: "http://127.0.0.1:1/mcp" } } } });
    expect(JSON.parse(run.outcome.output?.summary ?? "[]")).toMatchObject([{ systemPrompt: { mode: "append", content: [{ type: "text", text: "RULES" }] }, mcpServers: [{ type: "http", name: "web" }] }, false]);
  });

  it("chooses the model and the mode that asks, where they are offered, and warns where a wanted model is not", async () => {
    const opened = {
      modes: { currentModeId: "yolo", availableModes: [{ id: "yolo" }, { id: "default" }] },
      configOptions: [{ id: "m", category: "model", type: "select", currentValue: "haiku", options: [{ name: "Group", options: [{ value: "haiku" }, { value: "anthropic/claude-opus-5-5" }] }] }],
    };
    const code = "finish(JSON.stringify(heard.filter((m) => m.method.startsWith('session/set')).map((m) => [m.method, m.params])))";
    const chosen = await quirk(code, { agent: { opened }, request: { model: "claude-opus-5-5" } });
    expect(JSON.parse(chosen.outcome.output?.summary ?? "[]")).toEqual([
      ["session/set_mode", { sessionId: "s-1", modeId: "default" }], ["session/set_config_option", { sessionId: "s-1", configId: "m", value: "anthropic/claude-opus-5-5" }],
    ]);
    const missing = await quirk(code, { request: { model: "opus" } });
    expect(ofType(missing.events, "warning").map((e) => e.message)).toEqual(["the agent does not offer the model opus; it uses its own"]);
    const other = await quirk(code, { agent: { opened } });
    expect(ofType(other.events, "warning").map((e) => e.message)).toEqual(["the agent does not offer the model sonnet; it uses haiku"]);
    expect(ofType(other.events, "agent.usage").map((e) => e.model)).toEqual(["haiku"]);
    expect(ofType((await quirk("finish()")).events, "warning")).toEqual([]);
  });

  it("its session is on record before the first prompt, and a later process goes on with it", async () => {
    const at = stage();
    const events: string[] = [];
    const first = await quirk("note('prompted'); process.exit(3)", { at, agent: { session: "s-77" }, onEvent: (e) => void (e.type === "agent.process" && events.push(`${e.external_session} ${existsSync(join(at.worktree, "notes.txt"))}`)) });
    expect([events, first.outcome.reason]).toEqual([["s-77 false"], "crashed"]);
    for (const agentCapabilities of [{ loadSession: true }, { sessionCapabilities: { resume: {} } }]) {
      const method = "loadSession" in agentCapabilities ? "session/load" : "session/resume";
      const again = await quirk("", { at, agent: { initialize: { agentCapabilities }, otherwise: "finish(heard[1].method + ' ' + heard[1].params.sessionId + ' ' + prompt.slice(0, 20))" }, request: { resume: true } });
      expect(again.outcome.output?.summary).toBe(`${method} s-77 You were interrupted`);
      expect(ofType(again.events, "agent.process")).toMatchObject([{ runner: "acp", version: "quirky 1.2.3", external_session: "s-77", resumed: true, sandboxed: true }]);
      expect(JSON.stringify(again.events)).not.toContain("said before");
    }
  });

  it("where it cannot go on with the earlier session it starts afresh, is told so, and there is a warning", async () => {
    const at = stage();
    await quirk("process.exit(1)", { at });
    for (const agent of [{}, { lost: true, initialize: { agentCapabilities: { loadSession: true } } }]) {
      const run = await quirk("finish(prompt.slice(0, 40))", { at, agent, request: { resume: true } });
      expect(ofType(run.events, "warning").map((e) => e.message)).toEqual([expect.stringMatching(/starts afresh/)]);
      expect(run.outcome.output?.summary).toBe("An earlier process worked on this task a");
      expect(ofType(run.events, "agent.process")).toMatchObject([{ resumed: false }]);
    }
  });

  it.each([
    ["speaks another version", { initialize: { protocolVersion: 2 } }, "version 2"],
    ["wants a login first", { opened: { error: { code: -32000, message: "Authentication required" } } }, "Authentication required"],
    ["gives no session", { session: "" }, "no id"],
  ])("an agent that %s does not start", async (_, agent, message) => {
    const run = await quirk("finish()", { agent });
    expect(run.outcome.status).toBe("failed");
    expect(run.outcome.error?.message).toContain(message);
  });
});

describeSandboxed("how an ACP agent ends", () => {
  it.each([
    ["end_turn without an output", "say('that is all')", "failed", "invalid_output"],
    ["max_turn_requests", "return 'max_turn_requests'", "partial", "max_turns"],
    ["max_tokens", "return 'max_tokens'", "partial", "max_tokens"],
    ["refusal", "say('I will not'); return 'refusal'", "failed", "refusal"],
    ["cancelled by itself", "return 'cancelled'", "failed", "no_result"],
    ["cancelled after a refusal", "await permission({ kind: 'fetch' }); return 'cancelled'", "denied", "denied"],
    ["a reason that nobody knows", "return 'tired'", "failed", "no_result"],
    ["an API error", "return { error: { code: -32603, message: 'Internal error: API Error: 400 bad request here' } }", "failed", "api_error"],
    ["a refused login", "return { error: { code: -32603, message: 'Internal error', data: { errorKind: 'authentication_failed' } } }", "failed", "auth"],
    ["a limit", "return { error: { code: -32603, message: 'Internal error: API Error: 429 slow down' } }", "blocked", "rate_limited"],
    ["an overload", "return { error: { code: -32603, message: 'Internal error', data: { errorKind: 'overloaded' } } }", "blocked", "overloaded"],
    ["its own limit of turns", "return { error: { code: -32603, message: 'Reached maximum number of turns (5)' } }", "partial", "max_turns"],
    ["its own budget", "return { error: { code: -32603, message: 'Reached maximum budget ($1)' } }", "blocked", "budget"],
    ["a crash in the middle", "say('half'); process.stderr.write('out of luck'); setTimeout(() => process.exit(1), 50); await forever()", "failed", "crashed"],
    ["a signal", "process.kill(process.pid, 'SIGSEGV'); await forever()", "failed", "crashed"],
    ["an exit without a word", "process.exit(0)", "failed", "no_result"],
  ])("[EXE-5.2.1] %s", async (_, code, status, reason) => {
    expect((await quirk(code)).outcome).toMatchObject({ status, reason });
  });

  it("an answer that comes with the very end of the program counts", async () => {
    const run = await quirk("finish('in time'); setImmediate(() => setImmediate(() => process.exit(0)))");
    expect(run.outcome).toMatchObject({ status: "completed", output: { summary: "in time" } });
  });

  it("[EXE-4.3.1] silence, and lines that only show life, end by the idle time; work ends by its whole time", async () => {
    const idle = { request: { limits: { ...limits, idleMs: 700 } } };
    const spin = "setInterval(() => { update('available_commands_update', { availableCommands: [] }); update('tool_call_update', { toolCallId: 'c', status: 'in_progress' }); update('usage_update', { used: 5, size: 9 }); raw('.\\n') }, 20); await forever()";
    for (const code of ["await forever()", spin]) expect((await quirk(code, idle)).outcome).toMatchObject({ status: "timeout", reason: "idle" });
    const works = "for (let i = 0; ; i++) { say('step ' + i); await sleep(50); }";
    expect((await quirk(works, { request: { limits: { ...limits, timeoutMs: 1500 } } })).outcome).toMatchObject({ status: "timeout", reason: "time" });
  });

  it("more than the budget by its own account stops it", async () => {
    const run = await quirk("update('usage_update', { used: 1, size: 9, cost: { amount: 2, currency: 'USD' } }); await forever()", { request: { limits: { ...limits, budgetUsd: 1 } } });
    expect(run.outcome).toMatchObject({ status: "blocked", reason: "budget", costUsd: 2 });
  });

  it("[EXE-4.1.1] told to stop, it hears session/cancel first and may end its turn; one that does not is ended", async () => {
    const stopped = async (code: string) => {
      const stop = new AbortController();
      return quirk(code, { signal: stop.signal, agent: { stays: true }, onEvent: (event: NewEvent) => void (event.type === "agent.tool_call" && stop.abort()) });
    };
    const begin = "update('tool_call', { toolCallId: 'c1', kind: 'execute', status: 'in_progress', rawInput: { command: 'x' } });";
    const polite = await stopped(`process.on('SIGTERM', () => {}); ${begin} await new Promise((done) => onCancel(done)); note('cancelled'); setTimeout(() => process.exit(0), 100); return 'cancelled'`);
    expect(polite.outcome).toMatchObject({ status: "cancelled", reason: "cancelled" });
    expect(readFileSync(join(polite.at.worktree, "notes.txt"), "utf8")).toBe("cancelled\n");
    const deaf = await stopped(`process.on('SIGTERM', () => { note('asked'); process.exit(1); }); onCancel(() => note('cancelled')); ${begin} await forever()`);
    expect(deaf.outcome.status).toBe("cancelled");
    expect(readFileSync(join(deaf.at.worktree, "notes.txt"), "utf8")).toBe("cancelled\nasked\n");
  });
});

function shown(event: NewEvent): string {
  switch (event.type) {
    case "agent.thinking":
      return `${event.type} ${event.content}`;
    case "agent.output":
      return `${event.type} ${event.text}`;
    case "agent.plan":
      return `${event.type} ${event.tasks.map((t) => t.status).join()}`;
    case "agent.tool_call":
      return `${event.type} ${event.tool} ${JSON.stringify(event.input)}`;
    case "agent.tool_result":
      return `${event.type} ${event.tool} ${event.ok} ${event.output}`;
    default:
      return event.type;
  }
}
