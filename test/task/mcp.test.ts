import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { agentFile } from "../support/agents.ts";
import { repository } from "../support/cru.ts";
import { adapterPath, claudePath, describeClaude } from "../support/peers.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { done, taskMachine } from "../support/task.ts";

type Script = Parameters<typeof taskMachine>[0];
const spawn = { name: "mcp__crucible__spawn_agent", input: { agent: "helper", task: "look around" }, id: "spawn" };
const helper = (lines: Record<string, string> = {}): Record<string, string> => ({ ".config/crucible/agents/helper.md": agentFile("helper", lines, "PROMPT-OF-helper") });

describeClaude("cru task and MCP", () => {
  describeSandboxed("in the sandbox", () => {
    it("a label of the bead brings a server that others do not get; one that is not there is told", async () => {
      const add = { tools: [{ name: "mcp__sums__add", input: { a: 2, b: 3 }, id: "sum" }] };
      const box = await taskMachine({ rules: [{ match: {}, by: "turn", replies: [add, { text: done() }] }] } as Script);
      mkdirSync(join(box.home, "servers"));
      copyFileSync(join(repository, "test/support/mcp-server.mjs"), join(box.home, "servers", "server.mjs"));
      const server = JSON.stringify({ command: "node", args: [join(box.home, "servers", "server.mjs"), "good"], permissions: ["FilesystemRead"], default: false });
      const run = async (labels: string[]): Promise<{ stderr: string; result: unknown }> => {
        const made = await box.cru(["beads", "create", "add", "--json", ...labels.flatMap((label) => ["--label", label])]);
        const { id } = (JSON.parse(made.stdout) as { bead: { id: string } }).bead;
        const { stderr } = await box.task(["--bead", id], { env: { CRU_MCP_SERVERS_SUMS: server } });
        return { stderr, result: box.session(box.sessions().find((name) => box.session(name).events.some((e) => e.type === "task.completed" && e.bead_id === id))).events.find((e) => e.type === "agent.tool_result" && e.call_id === "sum") };
      };
      const [named, unnamed] = [await run(["mcp:sums", "mcp:summs"]), await run([])];
      expect(named.result).toMatchObject({ ok: true, output: "5" });
      expect(named.stderr).toContain("the task asks for the MCP server 'summs', and there is none of that name (did you mean 'sums'?)");
      expect(unnamed.result).toMatchObject({ ok: false });
    });

    it.each(["claude", "acp"])("an agent of the runner %s starts one of ours, below it and in its worktree", async (runner) => {
      const rules = [
        { match: { system: "PROMPT-OF-helper" }, by: "turn", replies: [{ tools: [{ name: "read_file", input: { path: "a.txt" }, id: "read" }] }, { text: "## Summary\n\nit says one" }] },
        { match: { last_user: "it says one" }, replies: [{ text: done() }], repeat_last: true },
        { match: {}, replies: [{ tools: [spawn] }] },
      ];
      const box = await taskMachine({ rules } as Script, { home: helper() });
      const ran = await box.task(["delegate", "--runner", runner, "--json"], { env: { CRU_ACP_COMMAND: adapterPath, CLAUDE_CODE_EXECUTABLE: claudePath } });
      expect([ran.code, ran.stderr]).toEqual([0, expect.anything()]);
      const { events, metadata } = box.session();
      expect(metadata.trace.map((t) => [t.agent, t.depth, t.status])).toEqual([["implementer", 0, "completed"], ["helper", 1, "completed"]]);
      expect(events.find((e) => e.type === "agent.tool_result" && e.call_id === "read")).toMatchObject({ ok: true, output: expect.stringContaining("one") });
    });

    it("what a child must ask ends the task with the question, and after the answer both go on where they were", async () => {
      const read = { name: "read_file", input: { path: "a.txt" }, id: "read" };
      const rules = [
        { match: { system: "PROMPT-OF-helper" }, by: "turn", replies: [{ tools: [read] }, { text: "## Summary\n\nit says one" }] },
        { match: { last_user: "You were interrupted" }, replies: [{ tools: [{ ...spawn, id: "again" }] }] },
        { match: { last_user: "it says one" }, replies: [{ text: done() }] },
        { match: {}, replies: [{ tools: [spawn] }] },
      ];
      const box = await taskMachine({ rules } as Script, { home: helper({ requires_approval: "[read_file]" }) });
      const first = await box.task(["delegate", "--json"]);
      expect(first.code).toBe(4);
      const waiting = JSON.parse(first.stdout) as { inbox_id: string; session_id: string; status: string };
      expect(waiting).toMatchObject({ status: "waiting", inbox_id: expect.any(String) });
      expect((await box.cru(["inbox", "approve", waiting.inbox_id])).code).toBe(0);
      const second = await box.task(["--resume", waiting.session_id, "--json"]);
      expect([second.code, second.stdout, second.stderr]).toEqual([0, expect.anything(), expect.anything()]);
      const { events, metadata } = box.session();
      expect(metadata.trace.map((t) => [t.agent, t.depth, t.status])).toEqual([["implementer", 0, "completed"], ["helper", 1, "completed"]]);
      expect(events.filter((e) => e.type === "inbox.opened")).toHaveLength(1);
      expect(events.filter((e) => e.type === "agent.tool_result" && e.tool === "read_file").map((e) => e.type === "agent.tool_result" && e.ok)).toEqual([true]);
    });
  });
});
