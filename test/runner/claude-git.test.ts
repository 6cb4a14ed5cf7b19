import { expect, it } from "vitest";
import { runSandboxed } from "../../src/sandbox/run-sandboxed.ts";
import { createWorktree } from "../../src/worktree/create-worktree.ts";
import { openPrivateGit } from "../../src/worktree/private-git.ts";
import { done, ofType, runClaude, stage } from "../support/claude.ts";
import { describeClaude } from "../support/peers.ts";
import { testRepository } from "../support/repository.ts";

describeClaude("git for the real Claude CLI", () => {
  it("commits in its worktree through a private folder; the commits come over and the main checkout stays clean", async () => {
    const box = testRepository({ "a.txt": "one\n" });
    const repository = await box.open();
    const worktree = await createWorktree({ bead: "app-1" }, repository);
    const at = { ...stage(), home: box.home, checkout: box.root, worktree: worktree.path };
    const own = await openPrivateGit({ worktree, stateFolder: at.state, sandboxed: true }, repository);
    if (own === undefined) throw new Error("no private git");
    const bash = { name: "Bash", input: { command: "echo two > a.txt && git commit -qam 'from the agent' && git update-ref -d refs/heads/main && git status --short", description: "commit" } };
    const run = await runClaude([{ tools: [bash] }, { text: done("committed") }], { at, request: { binds: own.binds } });
    expect(ofType(run.events, "agent.tool_result").map((e) => e.ok)).toEqual([true]);
    expect(run.outcome.status).toBe("completed");
    const taken = await own.importCommits((command, options) =>
      runSandboxed({ workspace: worktree.path, writable: true, home: box.home, binds: own.binds }, command, { mode: "required", ...options }));
    expect(taken.status).toBe("imported");
    expect(box.git("log", "--format=%s", "main..cru/app-1").trim()).toBe("from the agent");
    expect(box.git("status", "--porcelain")).toBe("");
  });
});
