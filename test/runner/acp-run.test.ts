import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { NewEvent } from "../../src/contract/event.ts";
import type { Script, ScriptedReply } from "../../src/scripted/script.ts";
import type { ScriptedRequest } from "../../src/scripted/request.ts";
import { runAcp } from "../support/acp.ts";
import { done, KEY, ofType, requestFor, stage } from "../support/claude.ts";
import { answered } from "../support/loop.ts";
import { adapterPath, claudePath, describeClaude } from "../support/peers.ts";
import { processesNaming, until } from "../support/processes.ts";
import { program, start } from "../support/program.ts";
import { IMPLEMENTER, runnerServers, testServer } from "../support/runner-mcp.ts";
import { scripted } from "../support/scripted.ts";

const limits = { maxIterations: 50, timeoutMs: 60_000, idleMs: 30_000, budgetUsd: null as number | null };
const look = { tools: [{ name: "Bash", input: { command: "ls", description: "look" } }] };
const error = (status: number, headers: Record<string, string> = {}) => ({ error: { status, headers, message: "scripted trouble" } });

describeClaude("the real Claude CLI through ACP", () => {
  it("[EXE-1.2.1] [EXE-2.1.1] works in the worktree, streams what it does and completes with its output; key and home stay outside", async () => {
    const at = stage();
    const file = join(at.worktree, "a.txt");
    const run = await runAcp(
      [
        { thinking: "I should write it", text: "I write.", tools: [{ name: "Write", input: { file_path: file, content: "hello\n" } }] },
        { tools: [{ name: "TodoWrite", input: { todos: [{ content: "Look", status: "completed", activeForm: "Looking" }, { content: "Test", status: "in_progress", activeForm: "Testing" }] } }] },
        { tools: [{ name: "Bash", input: { command: "env; cat a.txt; exit 3", description: "run" } }] },
        { text: done("made a.txt"), usage: { input: 100, output: 20 } },
      ],
      { at, request: { system: "GUIDANCE OF THE PROJECT" }, env: { OPENAI_API_KEY: "sk-another-0123456789", OPENAI_BASE_URL: "http://127.0.0.1:1" } },
    );
    expect(JSON.stringify(ofType(run.events, "agent.tool_result"))).not.toContain("OPENAI");
    expect(readFileSync(file, "utf8")).toBe("hello\n");
    expect(run.outcome).toMatchObject({ status: "completed", reason: "completed", error: null, output: { success: true, summary: "made a.txt" }, denials: [], costEstimated: false });
    expect(run.outcome.costUsd).toBeGreaterThan(0);
    expect(ofType(run.events, "agent.thinking").map((e) => e.content)).toEqual(["I should write it"]);
    expect(ofType(run.events, "agent.output").map((e) => e.text.slice(0, 9))).toEqual(["I write.", "Finished."]);
    expect(ofType(run.events, "agent.plan").at(-1)?.tasks.map((t) => t.status)).toEqual(["done", "in_progress"]);
    expect(ofType(run.events, "agent.tool_call").map((e) => [e.tool, e.input])).toMatchObject([["Write", { file_path: file, content: "hello\n" }], ["Bash", { command: "env; cat a.txt; exit 3" }]]);
    expect(ofType(run.events, "agent.tool_result").map((e) => [e.tool, e.ok])).toEqual([["Write", true], ["Bash", false]]);
    expect(ofType(run.events, "agent.tool_result")[1]?.output).toContain("hello");
    expect(ofType(run.events, "agent.process")).toMatchObject([{ runner: "acp", version: "@agentclientprotocol/claude-agent-acp 0.99.1", resumed: false, sandboxed: true }]);
    expect(ofType(run.events, "agent.raw")).toEqual([]);
    expect(run.requests.map((r) => [r.key, r.model])).toEqual(Array.from({ length: 4 }, () => [KEY, "claude-sonnet-5-5"]));
    expect(run.requests[0]?.system).toContain("GUIDANCE OF THE PROJECT");
    expect(JSON.stringify(run.events)).not.toContain(KEY);
    expect([readdirSync(at.home).toSorted(), readdirSync(at.checkout).toSorted(), existsSync(join(at.worktree, ".claude"))]).toEqual([["canary", "repo"], [".coven", "canary"], false]);
  });

  it("is offered only the tools that its rights allow, and no agents of its own", async () => {
    const run = await runAcp([{ text: done() }], { request: { permissions: ["FilesystemRead", "SemanticSearch"] } });
    expect(run.requests[0]?.tools).toEqual(expect.arrayContaining(["Read"]));
    expect(run.requests[0]?.tools.filter((tool) => ["Bash", "Write", "Edit", "NotebookEdit", "WebFetch", "WebSearch", "Task", "Agent"].includes(tool))).toEqual([]);
  });

  it("gets MCP servers in its session, and calls them by their rights", async () => {
    const at = stage();
    const opened = await runnerServers(at, { sums: testServer(at) }, { permissions: [...IMPLEMENTER] });
    const run = await runAcp([{ tools: [{ name: "mcp__sums__add", input: { a: 2, b: 3 }, id: "sum" }] }, { text: done() }], { at, request: { mcpServers: opened.mcpServers, binds: opened.binds } });
    await opened.close();
    expect(ofType(run.events, "agent.tool_result").map((e) => [e.tool, e.ok, e.output])).toEqual([["mcp__sums__add", true, expect.stringContaining("5")]]);
    expect([run.outcome.status, run.asked, readdirSync(at.worktree)]).toEqual(["completed", [], ["readme.md"]]);
  });

  it("a resumed run counts only what it used itself", async () => {
    const at = stage();
    const script = () => ({ text: done(), usage: { input: 1000, output: 100 } });
    const first = await runAcp(script, { at });
    const second = await runAcp(script, { at, request: { resume: true } });
    expect(ofType(second.events, "agent.process")).toMatchObject([{ resumed: true }]);
    expect([first.outcome.tokens, second.outcome.tokens]).toMatchObject([{ input: 1000, output: 100 }, { input: 1000, output: 100 }]);
    expect(second.outcome.costUsd).toBeCloseTo(first.outcome.costUsd ?? 0, 6);
  });

  it("a worktree's own settings loosen nothing", async () => {
    const settings = JSON.stringify({ permissions: { allow: ["Bash"], defaultMode: "bypassPermissions" }, hooks: { SessionStart: [{ hooks: [{ type: "command", command: "touch hooked.txt" }] }] } });
    const at = stage({ ".claude/settings.json": settings, ".claude/settings.local.json": settings });
    const run = await runAcp([{ tools: [{ name: "Bash", input: { command: "touch ran.txt", description: "x" } }] }, { text: done("x", { success: false }) }], { at, request: { requiresApproval: ["Shell"] } });
    expect(run.asked).toHaveLength(1);
    expect(readdirSync(at.worktree).filter((name) => name.endsWith(".txt"))).toEqual([]);
  });

  it("a login that is refused (401) is told at the first refusal", async () => {
    const run = await runAcp((_, call) => (call === 0 ? error(401) : { text: done() }), { setup: { maxRetries: 10 } });
    expect(run.outcome).toMatchObject({ status: "failed", reason: "auth" });
    expect(run.requests).toHaveLength(1);
  });

  it("a limit parks the run until then, without waiting for it", async () => {
    const { outcome } = await runAcp([error(429, { "retry-after": "3600" })], { setup: { maxRetries: 10 } });
    expect(outcome).toMatchObject({ status: "blocked", reason: "rate_limited" });
    expect(Date.parse(outcome.resetAt ?? "") - Date.now()).toBeGreaterThan(3_500_000);
  });

  it.each<[string, Script, Partial<typeof limits>, object]>([
    ["an overload that lasts", [error(529), error(529), error(529)], {}, { status: "blocked", reason: "overloaded" }],
    ["a connection that breaks in every answer", () => ({ text: "half of it", fault: { kind: "cut", after_events: 4 } }), {}, { status: "failed", reason: "api_error" }],
    ["the budget", [{ ...look, usage: { input: 1_000_000, output: 10 } }, { text: done() }], { budgetUsd: 0.5 }, { status: "blocked", reason: "budget" }],
    ["the number of turns", [look, look, look, { text: done() }], { maxIterations: 2 }, { status: "partial", reason: "max_turns" }],
    ["a refusal", () => ({ text: "I will not.", stop: "refusal" }), {}, { status: "failed", reason: "refusal" }],
  ])("[EXE-5.2.1] %s is an end of its own", async (_, script, change, outcome) => {
    expect((await runAcp(script, { request: { limits: { ...limits, ...change } } })).outcome).toMatchObject(outcome);
  });

  it("[EXE-4.1.1] a run that is cancelled while a command runs leaves no process and keeps what was done", async () => {
    const stop = new AbortController();
    const at = stage();
    const run = await runAcp([{ tools: [{ name: "Bash", input: { command: "echo begun > begun.txt; (setsid sleep 4322 &) ; for i in $(seq 1 400); do sleep 0.1; done", description: "wait" } }] }], {
      at, signal: stop.signal,
      onEvent: (event) => {
        if (event.type === "agent.tool_call") void until(() => readdirSync(at.worktree).includes("begun.txt")).then(() => stop.abort());
      },
    });
    expect(run.outcome).toMatchObject({ status: "cancelled", reason: "cancelled" });
    expect(readFileSync(join(at.worktree, "begun.txt"), "utf8")).toBe("begun\n");
    expect(processesNaming("4322")).toEqual([]);
  });

  it.each(["agent.thinking", "agent.tool_call", "asked"])("an orchestrator that is killed at %s: the agent dies with it, and the run is resumed to its end", async (killAt) => {
    const at = stage();
    const server = await scripted(next);
    const setup = {
      acp: { command: [adapterPath] }, sandbox: { mode: "required", hosts: [] }, allow: [], home: at.home, maxRetries: 1,
      env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url, CLAUDE_CODE_EXECUTABLE: claudePath },
    };
    const victim = start(await program(VICTIM), [JSON.stringify({ setup, request: requestFor(at, { requiresApproval: ["Shell"] }), killAt, state: at.state })]);
    await victim.ended;
    const seen = victim.output().trim().split("\n").map((line) => JSON.parse(line) as NewEvent);
    expect(seen.at(-1)?.type).toBe(killAt);
    const session = ofType(seen, "agent.process")[0]?.external_session ?? "";
    await until(() => processesNaming(session).length === 0 && processesNaming(at.worktree).length === 0);
    const resumed = await runAcp(next, { at, request: { requiresApproval: ["Shell"], resume: true }, answer: async () => answered("", "approve") });
    expect(resumed.outcome).toMatchObject({ status: "completed", output: { summary: "both made" } });
    // An agent that was killed before it had saved its conversation has none to go on with; that is told.
    const [again] = ofType(resumed.events, "agent.process");
    const told = ofType(resumed.events, "warning").map((e) => e.message);
    const afresh = told.some((message) => message.includes("starts afresh"));
    expect({ again, told, wentOn: again?.resumed === true ? again.external_session === session : afresh }).toMatchObject({ wentOn: true });
    expect([...new Set(readFileSync(join(at.worktree, "log.txt"), "utf8").trim().split("\n"))]).toEqual(["one", "two"]);
  });
});

/** Says what comes next from the conversation alone, so that a resumed run goes on where it was. */
function next({ users }: ScriptedRequest): ScriptedReply {
  const heard = users.join("\n");
  const bash = (word: string) => ({ thinking: `I need ${word}`, text: `Now ${word}.`, tools: [{ name: "Bash", input: { command: `sleep 0.2; echo ${word} >> log.txt; echo made-${word}`, description: word } }] });
  if (!heard.includes("made-one")) return bash("one");
  return heard.includes("made-two") ? { thinking: "all is there", text: done("both made") } : bash("two");
}

/** The runner in a process that kills itself with SIGKILL at the first event of a type; a question to a person is one too. */
const VICTIM = `
  import { writeSync } from "node:fs";
  import { createAcpRunner } from "@src/runner/acp/acp-runner.ts";
  const { setup, request, killAt, state } = JSON.parse(process.argv[2]);
  const count = (what) => { writeSync(1, JSON.stringify(what) + "\\n"); if (what.type === killAt) process.kill(process.pid, "SIGKILL"); };
  const runner = createAcpRunner({ ...setup, stateFolder: (agent) => state + "/" + agent.spanId });
  await runner.run(request, {
    emit: count, signal: new AbortController().signal,
    ask: async () => { count({ type: "asked" }); return { kind: "answered", answer: { v: 1, id: "i", action_hash: "", status: "answered", decision: "approve", text: "", set: {}, by: "person", answered_at: "" } }; },
  });
  process.exit(0);
`;
