import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { done, ofType, runClaude, stage } from "../../support/claude.ts";
import { describeClaude } from "../../support/peers.ts";
import { runnerServers, testServer } from "../../support/runner-mcp.ts";
import { describeSandboxed } from "../../support/sandbox.ts";
import type { Script } from "../../../src/scripted/script.ts";

const script = (...tools: { name: string; input: unknown; id: string }[]): Script => ({ rules: [{ match: {}, by: "turn", replies: [{ tools }, { text: done() }] }] }) as Script;

describeClaude("MCP servers of a Claude agent", () => {
  describeSandboxed("in the sandbox", () => {
    it("[EXE-6.1.2] are passed by flags, run in its sandbox, and nothing is written into the worktree", async () => {
      const at = stage();
      const { mcpServers, binds, warnings, close } = await runnerServers(at, { sums: testServer(at) });
      const run = await runClaude(script({ name: "mcp__sums__add", input: { a: 2, b: 3 }, id: "t1" }, { name: "mcp__sums__read", input: { path: `${at.home}/canary` }, id: "t2" }), { at, request: { mcpServers, binds } });
      await close();
      expect(warnings).toEqual([]);
      const results = ofType(run.events, "agent.tool_result").map((e) => [e.tool, e.ok, e.output]);
      expect(results).toEqual([["mcp__sums__add", true, "5"], ["mcp__sums__read", true, "error ENOENT"]]);
      expect(readdirSync(at.worktree)).toEqual(["readme.md"]);
    });
  });
});
