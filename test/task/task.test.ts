import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeClaude } from "../support/peers.ts";
import { bash, done, taskMachine } from "../support/task.ts";

describeClaude("cru task with the real Claude CLI", () => {
  it("[EXD-1.1.1] [EXE-1.2.1] [EXE-5.1.2] works in the bead's worktree and ends with summary and changed files", async () => {
    const box = await taskMachine([bash("pwd; echo two > a.txt; echo new > b.txt", "I change it."), { text: done("both files are there") }]);
    const ran = await box.task(["change", "a.txt", "--json"]);
    expect(ran.stderr).toContain("· Bash pwd");
    expect(ran).toMatchObject({ code: 0 });
    const end = JSON.parse(ran.stdout) as Record<string, unknown> & { bead_id: string };
    expect(end).toMatchObject({ status: "completed", summary: "both files are there", branch: `cru/${end.bead_id}`, runner: "claude", runner_version: "2.1.325", error: null });
    expect(end.changed_files).toEqual([
      { path: "a.txt", status: "modified", from: null, added: 1, deleted: 1 },
      { path: "b.txt", status: "added", from: null, added: 1, deleted: 0 },
    ]);
    const result = box.session().events.find((e) => e.type === "agent.tool_result");
    expect(result?.type === "agent.tool_result" && result.output.split("\n")[0]).toBe(box.worktree(end.bead_id));
    expect(box.git("show", `cru/${end.bead_id}:b.txt`)).toBe("new\n");
    expect(box.git("log", "-1", "--format=%s", `cru/${end.bead_id}`).trim()).toBe("change a.txt");
    expect(box.git("status", "--porcelain")).toBe("?? .beads/\n");
    expect(readFileSync(join(box.project, "a.txt"), "utf8")).toBe("one\n");
    expect(readdirSync(box.home).toSorted()).toEqual([".cache", ".local"]);
    expect(readdirSync(join(box.home, ".local/state/crucible/agents"), { recursive: true })).toHaveLength(1);
    expect(box.beads()).toMatchObject([{ id: end.bead_id, title: "change a.txt", issue_type: "task", labels: ["direct", "unmerged"], status: "closed", close_reason: `not merged, branch cru/${end.bead_id}` }]);
  });
});
