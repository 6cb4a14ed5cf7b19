import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { adapterPath, claudePath, describeClaude } from "../support/peers.ts";
import { bash, done, taskMachine } from "../support/task.ts";

const acp = { CRU_ACP_COMMAND: adapterPath, CLAUDE_CODE_EXECUTABLE: claudePath };

describeClaude("cru task with an ACP agent", () => {
  it("[EXE-1.2.1] [EXE-5.1.2] works in the bead's worktree through the adapter, and ends with summary and changed files", async () => {
    const box = await taskMachine([bash("pwd; echo two > a.txt; echo new > b.txt", "I change it."), { text: done("both files are there") }]);
    const ran = await box.task(["change", "a.txt", "--runner", "acp", "--model", "haiku", "--json"], { env: acp });
    expect(ran).toMatchObject({ code: 0 });
    const end = JSON.parse(ran.stdout) as Record<string, unknown> & { bead_id: string };
    expect(end).toMatchObject({ status: "completed", summary: "both files are there", runner: "acp", runner_version: "@agentclientprotocol/claude-agent-acp 0.99.1", error: null });
    expect(end.changed_files).toMatchObject([{ path: "a.txt", status: "modified" }, { path: "b.txt", status: "added" }]);
    expect(box.git("show", `cru/${end.bead_id}:b.txt`)).toBe("new\n");
    expect(box.git("status", "--porcelain")).toBe("?? .beads/\n");
    expect(box.requests.map((r) => r.model)).toEqual(["claude-haiku-5-5", "claude-haiku-5-5"]);
    expect(ran.stderr).not.toContain("does not offer");
    expect(readdirSync(box.home).toSorted()).toEqual([".cache", ".local"]);
    expect(box.beads()).toMatchObject([{ status: "closed", labels: ["direct", "unmerged"] }]);
  });

  it("without a command, or with one that is not there, nothing is made", async () => {
    const box = await taskMachine([{ text: done() }]);
    const none = await box.task(["x", "--runner", "acp"]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("acp.command")]);
    const missing = await box.task(["x", "--runner", "acp"], { env: { CRU_ACP_COMMAND: "no-such-agent --acp" } });
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("no-such-agent")]);
    expect(readdirSync(box.project).toSorted()).toEqual([".git", "a.txt"]);
  });
});
