import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { McpServer } from "../../../src/contract/settings.ts";
import type { Script } from "../../../src/scripted/script.ts";
import { type ClaudeOptions, type ClaudeRun, done, ofType, runClaude, stage, type Stage } from "../../support/claude.ts";
import { answered } from "../../support/loop.ts";
import { processesWith } from "../../support/mcp.ts";
import { describeClaude } from "../../support/peers.ts";
import { until } from "../../support/processes.ts";
import { IMPLEMENTER, runnerServers, testServer } from "../../support/runner-mcp.ts";
import { describeSandboxed } from "../../support/sandbox.ts";

type Call = { name: string; input: unknown; id: string };
const calls = (...tools: Call[]): Script => ({ rules: [{ match: {}, by: "turn", replies: [{ tools }, { text: done() }] }] }) as Script;

async function run(at: Stage, servers: Record<string, McpServer>, script: Script, options: Omit<ClaudeOptions, "at"> = {}): Promise<ClaudeRun & { results: Record<string, [boolean, string]>; warnings: string[] }> {
  const opened = await runnerServers(at, servers, { permissions: [...(options.request?.permissions ?? IMPLEMENTER)], mode: options.setup?.sandbox?.mode ?? "required" });
  const ran = await runClaude(script, { at, ...options, request: { ...options.request, mcpServers: opened.mcpServers, binds: opened.binds } });
  await opened.close();
  const results = Object.fromEntries(ofType(ran.events, "agent.tool_result").map((e) => [e.call_id, [e.ok, e.output] as [boolean, string]]));
  return { ...ran, results, warnings: [...opened.warnings, ...ofType(ran.events, "warning").map((e) => e.message)] };
}

describeClaude("MCP servers of a Claude agent", () => {
  describeSandboxed("in the sandbox", () => {
    it("[EXE-6.1.2] are passed by flags, run where the agent runs, and nothing is written into the worktree", async () => {
      const at = stage();
      const { results, warnings, requests } = await run(at, { sums: testServer(at), "of the task": testServer(at) }, calls(
        { name: "mcp__sums__add", input: { a: 2, b: 3 }, id: "sum" },
        { name: "mcp__of_the_task__add", input: { a: 1, b: 1 }, id: "task" },
        { name: "mcp__sums__read", input: { path: `${at.home}/canary` }, id: "canary" },
        { name: "mcp__sums__fetch", input: { url: "http://127.0.0.1:1" }, id: "net" },
        { name: "Bash", input: { command: "cat /proc/[0-9]*/cmdline | tr '\\0' ' '", description: "command lines" }, id: "lines" },
      ));
      expect(warnings).toEqual([]);
      const { lines, ...called } = results;
      expect(lines?.[1]).toContain(`--strict-mcp-config --mcp-config ${join(at.state, "aaaaaaaaaaaaaaaa", "claude", "mcp-servers.json")} `);
      expect(called).toEqual({ sum: [true, "5"], task: [true, "2"], canary: [true, "error ENOENT"], net: [true, expect.stringContaining("no network")] });
      expect(requests.length).toBe(2);
      expect(readdirSync(at.worktree)).toEqual(["readme.md"]);
    });

    it("one with an environment stays outside: it has its secret, and nobody in the agent's sandbox sees it", async () => {
      const at = stage();
      const secret = "token-of-the-server-0123456789";
      const { results, warnings } = await run(at, { tickets: testServer(at, { env: { TICKETS_TOKEN: secret, GREETING: "hello" } }) }, calls(
        { name: "mcp__tickets__environment", input: {}, id: "env" },
        { name: "Bash", input: { command: `grep -rl ${secret} /proc/*/environ ${join(at.state)} /run/crucible 2>/dev/null | grep -v self; env`, description: "look" }, id: "bash" },
      ));
      expect(warnings).toEqual([]);
      expect(results.env).toEqual([true, expect.stringContaining('"GREETING":"hello"')]);
      expect(results.env?.[1]).toContain('"TICKETS_TOKEN":"[redacted]"');
      expect(results.bash?.[1]).not.toContain("environ");
      expect(results.bash?.[1]).not.toContain("TICKETS");
      expect(readFileSync(join(at.state, "aaaaaaaaaaaaaaaa", "claude", "mcp-servers.json"), "utf8")).not.toContain(secret);
    });

    it("a server over HTTP is spoken to from outside, and each call is asked about", async () => {
      const at = stage();
      const versions: unknown[] = [];
      const http = createServer((request, response) => {
        let body = "";
        request.on("data", (chunk) => (body += chunk)).on("end", () => {
          const message = (body === "" ? {} : JSON.parse(body)) as { id?: number; method?: string };
          if (message.method === "tools/call") versions.push(request.headers["mcp-protocol-version"]);
          const results: Record<string, unknown> = {
            initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } },
            "tools/list": { tools: [{ name: "hello", inputSchema: { type: "object" } }] },
            "tools/call": { content: [{ type: "text", text: "hello over http" }] },
          };
          const result = results[message.method ?? ""];
          if (result === undefined) response.writeHead(message.id === undefined && request.method === "POST" ? 202 : 405).end();
          else response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
        });
      });
      await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void (http.closeAllConnections(), http.close()));
      const { results, asked } = await run(at, { far: { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` } }, calls({ name: "mcp__far__hello", input: {}, id: "h" }), {
        request: { permissions: [...IMPLEMENTER, "DatabaseRead", "DatabaseWrite", "NetworkAccess"] }, answer: async () => answered("", "approve"),
      });
      expect(results.h).toEqual([true, "hello over http"]);
      expect(versions).toEqual(["2025-06-18"]);
      expect(asked.map((q) => [q.kind, q.action?.tool])).toEqual([["permission", "mcp__far__hello"]]);
    });

    it("one with hosts reaches them, and the agent itself does not", async () => {
      const at = stage();
      const http = createServer((_, response) => response.end("from the host"));
      await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void (http.closeAllConnections(), http.close()));
      const { port } = http.address() as AddressInfo;
      const url = `http://127.0.0.1:${port}/`;
      const { results } = await run(at, { net: testServer(at, { permissions: ["NetworkAccess"], hosts: [`localhost:${port}`] }) }, calls(
        { name: "mcp__net__fetch", input: { url }, id: "server" },
        { name: "Bash", input: { command: `node -e 'fetch("${url}").then((r) => r.text()).then(console.log, () => console.log("unreachable"))'`, description: "fetch" }, id: "agent" },
      ), { request: { permissions: [...IMPLEMENTER, "NetworkAccess"] }, answer: async () => answered("", "approve") });
      expect(results).toEqual({ server: [true, "from the host"], agent: [true, "unreachable"] });
    });

    it("their rights are gates: what the agent lacks is left out, what is risky is asked about", async () => {
      const at = stage();
      const { results, warnings, asked } = await run(at, { db: testServer(at, { permissions: ["DatabaseWrite"] }), sh: testServer(at, { permissions: ["Shell"] }) }, calls(
        { name: "mcp__db__add", input: { a: 1, b: 1 }, id: "db" },
        { name: "mcp__sh__add", input: { a: 1, b: 1 }, id: "sh" },
      ));
      expect(warnings).toEqual(["the MCP server db is left out: the agent lacks DatabaseWrite"]);
      expect(results.db?.[0]).toBe(false);
      expect(results.sh).toEqual([false, expect.stringContaining("no")]);
      expect(asked.map((q) => q.action?.tool)).toEqual(["mcp__sh__add"]);
    });

    it("[EXE-6.3.1] [EXE-6.3.2] one that is not installed, or does not start, is told, and the run goes on without it", async () => {
      const at = stage();
      const { outcome, warnings } = await run(at, { gone: { command: "no-such-server", permissions: [] }, npx: { command: "npx", args: ["-y", "no-such-package-of-crucible"], permissions: [] }, broken: testServer(at, { args: [...(testServer(at).args ?? []).slice(0, 1), "exit"] }) }, { rules: [{ match: {}, replies: [{ text: done() }] }] } as Script);
      expect(outcome.status).toBe("completed");
      expect(warnings).toEqual([
        "the MCP server gone is left out: no-such-server was not found on PATH; install it, or give its full path as command",
        "the MCP server npx is left out: the npm package no-such-package-of-crucible is not installed, and nothing is downloaded; install it: npm install -g no-such-package-of-crucible",
        "the MCP server broken did not start (failed); the agent goes on without it",
      ]);
    });

    it("one that never answers is waited for only so long", async () => {
      const at = stage();
      const mute = testServer(at, { args: [...(testServer(at).args ?? []).slice(0, 1), "mute"] });
      const { outcome, warnings } = await run(at, { mute }, { rules: [{ match: {}, replies: [{ text: done() }] }] } as Script, { env: { MCP_TIMEOUT: "1000" } });
      expect([outcome.status, warnings]).toEqual(["completed", [expect.stringMatching(/^the MCP server mute (?:did not start|has not answered yet)/)]]);
    });

    it("without a sandbox they run all the same, with their own environment only, and each call is asked about", async () => {
      const at = stage();
      const { results, asked, warnings } = await run(at, { tickets: testServer(at, { env: { GREETING: "hello" } }) }, calls({ name: "mcp__tickets__environment", input: {}, id: "env" }), {
        setup: { sandbox: { mode: "off", hosts: [] } }, answer: async () => answered("", "approve"),
      });
      expect(warnings).toEqual([]);
      expect(JSON.parse(results.env?.[1] ?? "{}")).toMatchObject({ GREETING: "hello", HOME: at.home });
      expect(results.env?.[1]).not.toContain("ANTHROPIC");
      expect(asked.map((q) => [q.action?.tool, q.reversible])).toEqual([["mcp__tickets__environment", false]]);
    });

    it("whatever they started has ended when the run is over", async () => {
      const at = stage();
      const word = `mcp-left-${process.pid}-${Date.now()}`;
      const { results } = await run(at, { inside: testServer(at), outside: testServer(at, { env: { A: "b" } }) }, calls(
        { name: "mcp__inside__child", input: { word: `${word}-inside` }, id: "a" },
        { name: "mcp__outside__child", input: { word: `${word}-outside` }, id: "b" },
      ));
      expect(results).toEqual({ a: [true, "started"], b: [true, "started"] });
      await until(() => processesWith(word).length === 0);
    });
  });
});
