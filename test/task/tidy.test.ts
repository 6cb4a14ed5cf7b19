import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeSandboxed } from "../support/sandbox.ts";
import { done, taskMachine } from "../support/task.ts";

const writes = [{ tools: [{ name: "write_file", input: { path: "made.txt", content: "made\n" } }] }, { text: done("made") }, { tools: [{ name: "reflect", input: { goal_achieved: true, progress: "all", content: "done" } }] }];

describeSandboxed("worktrees of tasks that are done", () => {
  it("stay until their work is in HEAD; then doctor says so, and --fix removes folder, branch and label", async () => {
    const box = await taskMachine(writes);
    const { bead_id } = JSON.parse((await box.task(["make", "--runner", "model", "--json"])).stdout) as { bead_id: string };
    const doctor = async (...args: string[]): Promise<string> => (await box.cru(["doctor", ...args])).stdout;
    expect(await doctor("--fix")).not.toContain(bead_id);
    expect(existsSync(box.worktree(bead_id))).toBe(true);
    box.git("merge", "-q", `cru/${bead_id}`);
    expect(await doctor()).toContain(`${bead_id} is done and nothing on cru/${bead_id} is missing here; its worktree can go`);
    expect(existsSync(box.worktree(bead_id))).toBe(true);
    expect(await doctor("--fix")).toContain("its worktree and branch were removed");
    expect(existsSync(box.worktree(bead_id))).toBe(false);
    expect(box.git("branch", "--list", "cru/*")).toBe("");
    expect(box.git("worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(box.beads()).toMatchObject([{ status: "closed" }]);
    expect(box.beads()[0]?.labels).not.toContain("unmerged");
  });

  it("with something that is not committed they are kept, and that is told", async () => {
    const box = await taskMachine(writes);
    const { bead_id } = JSON.parse((await box.task(["make", "--runner", "model", "--json"])).stdout) as { bead_id: string };
    box.git("merge", "-q", `cru/${bead_id}`);
    writeFileSync(join(box.worktree(bead_id), "mine.txt"), "mine");
    expect((await box.cru(["doctor", "--fix"])).stdout).toContain("holds work that is not committed");
    expect(existsSync(join(box.worktree(bead_id), "mine.txt"))).toBe(true);
    expect(box.git("branch", "--list", "cru/*")).toContain(bead_id);
  });
});
