import { join } from "node:path";
import { expect, it } from "vitest";
import { openProject, type Primary } from "../../../src/app/chat/open-chat.ts";
import { openRunnerMcp } from "../../../src/app/mcp/open-runner-mcp.ts";
import type { CruEvent } from "../../../src/contract/event.ts";
import type { AgentIdentity } from "../../../src/contract/runner.ts";
import { systemClock } from "../../../src/lib/clock.ts";
import type { Script } from "../../../src/scripted/script.ts";
import { openSession } from "../../../src/session/open-session.ts";
import { agentFile } from "../../support/agents.ts";
import { type ClaudeRun, done, KEY, ofType, requestFor, runClaude, stage, type Stage } from "../../support/claude.ts";
import { describeClaude } from "../../support/peers.ts";
import { IMPLEMENTER, testServer } from "../../support/runner-mcp.ts";
import { describeSandboxed } from "../../support/sandbox.ts";
import { scripted } from "../../support/scripted.ts";
import { writeFiles } from "../../support/temp.ts";

type Call = { name: string; input: unknown; id: string };
const calls = (...tools: Call[]): Script => ({ rules: [{ match: {}, by: "turn", replies: [...tools.map((tool) => ({ tools: [tool] })), { text: done() }] }] }) as Script;
const spawn = { name: "mcp__crucible__spawn_agent", input: { agent: "helper", task: "count the files" }, id: "spawn" };

type Setting = { depth?: number; task?: string[]; requiresApproval?: string[]; child?: unknown[]; settings?: string; held?: (what: string) => void };

/** A real Claude agent in its worktree, with everything that it gets over MCP; the record is that of a real session. */
async function runWith(at: Stage, script: Script, { depth = 0, task = [], requiresApproval = [], child = [{ text: "## Summary\n\nthree files" }], settings = "", held = () => {} }: Setting = {}): Promise<
  ClaudeRun & { results: Record<string, [boolean, string]>; recorded: CruEvent[]; warnings: string[] }
> {
  writeFiles(at.home, { ".config/crucible/agents/helper.md": agentFile("helper", { permissions: "[FilesystemRead, NetworkAccess]" }, "PROMPT-OF-helper"), ".config/crucible/config.yaml": settings });
  const model = await scripted({ rules: [{ match: { system: "PROMPT-OF-helper" }, by: "turn", replies: child }] } as Script);
  const env = { PATH: process.env.PATH, HOME: at.home, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: model.url };
  const warnings: string[] = [];
  const project = await openProject({ cwd: at.checkout, env, trust: false, agent: undefined, model: undefined, allow: [], deny: [], maxIterations: undefined, budgetUsd: undefined });
  const session = await openSession({ request: "the task", agent: "implementer", version: "1", model: "sonnet", modelSource: "default", runner: "claude" }, { paths: project.paths, env, clock: systemClock, warn: () => {} });
  const identity: AgentIdentity = { ...requestFor(at).agent, sessionId: session.id, traceId: session.traceId, depth };
  const agent: Primary = { name: "implementer", hash: "1", prompt: "", model: "claude-sonnet-5-5", modelSource: "default", permissions: IMPLEMENTER, requiresApproval, approvalTimeoutS: undefined };
  const recorded: CruEvent[] = [];
  const mcp = await openRunnerMcp({
    project, env, workspace: at.worktree, session, recorded, identity, agent, task, wait: true, attempting: () => "the task", signal: new AbortController().signal, warn: (message) => warnings.push(message),
    emit(event) {
      session.emit(event);
      if (event.type === "agent.started") held("child started");
      if (event.type === "agent.completed") held("child ended");
      recorded.push({ v: 1, ts: "", seq: recorded.length, trace_id: session.traceId, ...event } as CruEvent);
    },
  });
  const run = await runClaude(script, {
    at,
    onRunning: (clocks) =>
      mcp.onRunning({
        paused: async (work) => {
          held("stopped");
          return clocks.paused(work).finally(() => held("going"));
        },
      }),
    request: { agent: identity, mcpServers: mcp.mcpServers, binds: mcp.binds, requiresApproval },
  });
  await mcp.close();
  session.finish("completed");
  const results = Object.fromEntries(ofType(run.events, "agent.tool_result").map((e) => [e.call_id, [e.ok, e.output] as [boolean, string]]));
  return { ...run, results, recorded, warnings: [...warnings, ...ofType(run.events, "warning").map((e) => e.message)] };
}

describeClaude("a Claude agent with our tools", () => {
  describeSandboxed("in its sandbox", () => {
    it("at depth 0 starts an agent of ours through the relay: below it, in its worktree, with its rights", async () => {
      const at = stage();
      const read = { name: "read_file", input: { path: "readme.md" }, id: "r" };
      const { results, warnings, recorded } = await runWith(at, calls(spawn, { name: "mcp__crucible__get_agent", input: { name: "nobody" }, id: "get" }), { child: [{ tools: [read] }, { text: "## Summary\n\nthree files" }] });
      expect(warnings).toEqual([]);
      expect(results.spawn).toEqual([true, expect.stringContaining("three files")]);
      expect(results.get).toEqual([false, expect.stringContaining("agent not found")]);
      expect(recorded.find((e) => e.type === "agent.started")).toMatchObject({ agent: "helper", depth: 1, parent_span_id: "aaaaaaaaaaaaaaaa", parent_chain: ["user", "implementer", "helper"], permissions: ["FilesystemRead", "SemanticSearch"], reduced: ["NetworkAccess"] });
      expect(recorded.find((e) => e.type === "agent.tool_result" && e.call_id === "r")).toMatchObject({ ok: true, output: expect.stringContaining("hello") });
    });

    it("at depth 1 starts none, in the words of the limit", async () => {
      const { results, recorded } = await runWith(stage(), calls(spawn), { depth: 1 });
      expect(results.spawn).toEqual([false, expect.stringContaining("Maximum agent depth (2) exceeded")]);
      expect(recorded.filter((e) => e.type === "agent.started")).toEqual([]);
    });

    it("has of ours only what it lacks, whoever in its sandbox asks", async () => {
      const at = stage();
      const script = join(at.worktree, "ask.cjs");
      writeFiles(at.worktree, { "ask.cjs": `
        const s = require("node:net").connect("/run/crucible/mcp.sock");
        const say = (m) => s.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n");
        let text = "";
        s.on("data", (d) => { text += d; if ([2, 3].every((id) => text.includes('"id":' + id) && text.endsWith("\\n"))) { console.log(text); process.exit(); } });
        say({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } } });
        say({ method: "notifications/initialized" });
        say({ id: 2, method: "tools/list" });
        say({ id: 3, method: "tools/call", params: { name: "run_command", arguments: { command: "id" } } });
      ` });
      const { results } = await runWith(at, calls({ name: "Bash", input: { command: `node ${script}`, description: "ask" }, id: "sh" }));
      const answers = (results.sh?.[1] ?? "").split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as { id: number; result: { tools?: { name: string }[]; isError?: boolean } }] : []));
      expect(answers.find((a) => a.id === 2)?.result.tools?.map((t) => t.name).toSorted()).toEqual(["ask_user", "get_agent", "list_notes", "read_note", "request_approval", "semantic_search", "spawn_agent"]);
      expect(answers.find((a) => a.id === 3)?.result).toMatchObject({ isError: true });
    });

    it("its clocks stand still while its child works", async () => {
      const held: string[] = [];
      const { results } = await runWith(stage(), calls(spawn), { held: (what) => held.push(what) });
      expect(results.spawn?.[0]).toBe(true);
      expect(held).toEqual(["stopped", "child started", "child ended", "going"]);
    });

    it("[EXE-6.1.1] [EXE-6.2.1] it and the agents that it starts have the session's servers, and those of its task", async () => {
      const at = stage();
      const { command, args = [] } = testServer(at);
      const entry = (name: string, more = ""): string => `    ${name}: {command: ${command}, args: ${JSON.stringify(args)}, permissions: [FilesystemRead]${more}}\n`;
      const use = (id: string): Call[] => [{ name: "mcp__every__add", input: { a: 1, b: 2 }, id: `${id}-every` }, { name: "mcp__some__add", input: { a: 3, b: 4 }, id: `${id}-some` }];
      const settings = `mcp:\n  servers:\n${entry("every")}${entry("some", ", default: false")}`;
      const child = [{ tools: use("child") }, { text: "## Summary\n\nok" }];
      const { results, recorded } = await runWith(at, calls(...use("claude"), spawn), { settings, task: ["some"], child });
      const ours = Object.fromEntries(recorded.flatMap((e) => (e.type === "agent.tool_result" ? [[e.call_id, e.output]] : [])));
      expect([results["claude-every"], results["claude-some"]]).toEqual([[true, "3"], [true, "7"]]);
      expect([ours["child-every"], ours["child-some"]]).toEqual(["3", "7"]);
      const without = await runWith(stage(), calls(use("x")[1] as Call), { settings });
      expect(without.results["x-some"]?.[0]).toBe(false);
    });
  });
});
