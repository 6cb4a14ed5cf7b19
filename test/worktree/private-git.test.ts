import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runSandboxed } from "../../src/sandbox/run-sandboxed.ts";
import { commitAll } from "../../src/worktree/commit-all.ts";
import { createWorktree } from "../../src/worktree/create-worktree.ts";
import { importCommits } from "../../src/worktree/import-commits.ts";
import { openPrivateGit } from "../../src/worktree/private-git.ts";
import { openRepository } from "../../src/worktree/repository.ts";
import { type TestRepository, testRepository } from "../support/repository.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

async function agentPlace(box: TestRepository = testRepository({ "a.txt": "one\n", "secret.txt": "main-canary\n" })) {
  writeFiles(box.root, { "untracked-secret.txt": "untracked-canary\n", ".git/info/exclude": "untracked-secret.txt\n" });
  const repository = await box.open();
  const worktree = await createWorktree({ bead: "app-1" }, repository);
  const stateFolder = temporaryFolder();
  const open = async () => {
    const own = await openPrivateGit({ worktree, stateFolder, sandboxed: true }, repository);
    if (own === undefined) throw new Error("no private git");
    const inside = (command: readonly string[], options: { timeoutMs: number } = { timeoutMs: 60_000 }) =>
      runSandboxed({ workspace: worktree.path, writable: true, home: box.home, binds: own.binds }, command, { mode: "required", ...options });
    return { agent: (script: string) => inside(["/bin/sh", "-c", script]), take: () => own.importCommits(inside), inside, binds: own.binds };
  };
  return { ...box, repository, worktree, stateFolder, open };
}

/** Every file of the real repository with its content. */
function contents(folder: string): string {
  return execFileSync("sh", ["-c", "find . | sort; find . -type f -print0 | sort -z | xargs -0 sha256sum"], { cwd: folder, encoding: "utf8" });
}

const WRECK = `
printf '#!/bin/sh\\ntouch /tmp/x\\n' > $G/hooks/pre-commit; chmod +x $G/hooks/pre-commit
git config core.fsmonitor 'touch owned'; git config core.hooksPath $PWD
git update-ref -d refs/heads/main; echo nonsense > $G/refs/heads/main; echo broken > $G/packed-refs
echo 'ref: refs/heads/nowhere' > $G/HEAD; rm -rf $G/worktrees/*/logs; rm -rf $G/objects/*
rm -rf $G; mv $G $G.old; ln -s /etc $G/worktrees/link; chmod -R 000 $G
`;

describeSandboxed("a private git folder in the sandbox", () => {
  it.each([[[]], [["--object-format=sha256"]]])("every git command works inside, and new commits come over (init %j)", async (init) => {
    const { worktree, open, git, gitDir } = await agentPlace(testRepository(undefined, init));
    const before = contents(gitDir);
    const { agent, take } = await open();
    const result = await agent(`set -e
      test -z "$(git status --porcelain)"; test "$(git branch --show-current)" = cru/app-1
      echo two > a.txt; git commit -qam two; echo three > b.txt; git add b.txt; git commit -qm three
      echo x > a.txt; git stash -q; git stash pop -q; git checkout -q a.txt; git tag t; git branch side; git branch -D -q side; git checkout -q -b other; git checkout -q cru/app-1
      git log --oneline | wc -l; git rebase -q HEAD~1; git gc -q; git fsck --no-dangling; git worktree list | wc -l`);
    expect(result).toMatchObject({ code: 0, stdout: "3\n2\n" });
    expect(contents(gitDir)).toBe(before);
    const taken = await take();
    expect(taken).toEqual({ status: "imported", commit: git("rev-parse", "cru/app-1").trim() });
    expect(git("log", "--format=%s %an", "cru/app-1")).toBe("three Crucible\ntwo Crucible\nfirst T\n");
    expect(git("for-each-ref", "--format=%(refname)")).toBe("refs/heads/cru/app-1\nrefs/heads/main\n");
    expect(git("fsck", "--strict")).toBe("");
    expect(readFileSync(join(worktree.path, "b.txt"), "utf8")).toBe("three\n");
  });

  it("S14: whatever is done to it, the real repository stays as it is, and the main checkout is out of sight", async () => {
    const { open, gitDir, git, root, home, worktree, repository } = await agentPlace();
    writeFiles(home, { "id_rsa": "home-canary\n" });
    const before = contents(gitDir);
    const { agent, take } = await open();
    const seen = await agent(`cat ${root}/secret.txt ${root}/untracked-secret.txt ${home}/id_rsa; ls ${root} ${root}/.coven; echo w > ${root}/a.txt; echo w > ${root}/new.txt; for o in /run/crucible/objects-0/*; do rm -rf $o; done; echo x > /run/crucible/objects-0/x`);
    expect(seen.stdout + seen.stderr).not.toMatch(/-canary/);
    expect(contents(gitDir)).toBe(before);
    writeFiles(worktree.path, { "work.txt": "work\n" });
    await agent(`G=${gitDir}; ${WRECK}`);
    expect(contents(gitDir)).toBe(before);
    expect(await take()).toMatchObject({ status: "refused" });
    expect(contents(gitDir)).toBe(before);
    expect(git("status", "--porcelain")).toBe("");
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\n");
    expect((await commitAll(worktree, { subject: "saved" }, repository)).status).toBe("committed");
    expect(git("show", "cru/app-1:work.txt")).toBe("work\n");
    expect(git("fsck", "--strict")).toBe("");
  });

  it("nothing new is nothing; a branch set back or deleted moves nothing", async () => {
    const { open, git, worktree, repository } = await agentPlace();
    expect(await (await open()).take()).toEqual({ status: "none" });
    writeFiles(worktree.path, { "a.txt": "two\n" });
    const { commit } = await commitAll(worktree, { subject: "two" }, repository);
    const back = await open();
    await back.agent("git reset -q --hard HEAD~1");
    expect(await back.take()).toEqual({ status: "none" });
    const gone = await open();
    await gone.agent("git checkout -q --detach; git branch -D cru/app-1");
    expect(await gone.take()).toMatchObject({ status: "refused" });
    expect(git("rev-parse", "cru/app-1").trim()).toBe(commit);
  });

  it("rewritten history does not move the branch; what the agent made of it is kept aside", async () => {
    const { open, git, worktree, repository } = await agentPlace();
    writeFiles(worktree.path, { "a.txt": "two\n" });
    const { commit } = await commitAll(worktree, { subject: "two" }, repository);
    const { agent, take } = await open();
    await agent("git commit -q --amend -m rewritten; echo more > more.txt; git add more.txt; git commit -qm more");
    const taken = await take();
    expect(taken).toMatchObject({ status: "rewritten", ref: expect.stringMatching(/^refs\/crucible\/side\/app-1\/[0-9a-f]{12}$/) });
    expect(git("rev-parse", "cru/app-1").trim()).toBe(commit);
    expect(git("log", "--format=%s", (taken as { ref: string }).ref)).toBe("more\nrewritten\nfirst\n");
    expect(git("for-each-ref", "refs/crucible/incoming")).toBe("");
  });

  it("refuses a branch that somebody else moved meanwhile, and keeps the commits", async () => {
    const { open, git } = await agentPlace();
    const { agent, take } = await open();
    await agent("echo two > a.txt; git commit -qam two");
    const other = git("commit-tree", "-p", "cru/app-1", "-m", "other", "main^{tree}").trim();
    git("update-ref", "refs/heads/cru/app-1", other);
    expect(await take()).toMatchObject({ status: "rewritten" });
    expect(git("rev-parse", "cru/app-1").trim()).toBe(other);
  });

  it("refuses bundles that are corrupt, too large, a link, or hold objects that are not sound", async () => {
    const { open, git, worktree, repository, gitDir } = await agentPlace();
    const { agent, inside, binds } = await open();
    const folder = binds[0]?.from ?? "";
    const before = git("for-each-ref");
    await agent("echo two > a.txt; git commit -qam two");
    const attempt = (fake: string, maxBytes?: number) =>
      importCommits({ worktree, base: worktree.base, folder, ...(maxBytes === undefined ? {} : { maxBytes }) }, {
        repository,
        // A hostile copy answers whatever it likes instead of making a bundle.
        runInside: (command, options) => (fake === "" ? inside(command, options) : inside(["/bin/sh", "-c", `rm -f ${gitDir}/crucible-import.bundle; ${fake}`], options)),
      });
    const out = `${gitDir}/crucible-import.bundle`;
    expect(await attempt(`echo garbage > ${out}`)).toMatchObject({ status: "refused", reason: expect.stringContaining("not sound") });
    expect(await attempt(`git bundle create -q ${out} ^${worktree.base} cru/app-1; head -c -30 ${out} > /tmp/b; cat /tmp/b > ${out}`)).toMatchObject({ status: "refused" });
    expect(await attempt(`ln -s /etc/passwd ${out}`)).toMatchObject({ status: "refused" });
    expect(await attempt(`mkfifo ${out}`)).toMatchObject({ status: "refused" });
    expect(await attempt("exit 0")).toMatchObject({ status: "refused" });
    expect(await attempt("exit 7")).toMatchObject({ status: "refused" });
    await agent("head -c 300000 /dev/urandom > big.bin; git add big.bin; git commit -qm big");
    expect(await attempt("", 100_000)).toMatchObject({ status: "refused", reason: expect.stringContaining("larger") });
    expect(readdirSync(folder)).toContain("crucible-import.bundle");
    // A tree entry named .git would put files where git trusts them.
    await agent(`blob=$(echo evil | git hash-object -w --stdin); tree=$(printf '100644 blob %s\\t.git\\n' $blob | git mktree); git update-ref refs/heads/cru/app-1 $(git commit-tree -p HEAD -m evil $tree)`);
    expect(await attempt("")).toMatchObject({ status: "refused", reason: expect.stringContaining("not sound") });
    expect(git("for-each-ref")).toBe(before);
  });

  it("a killed run goes on with its own commits; after the import the next step starts afresh", async () => {
    const { open, git, stateFolder } = await agentPlace();
    await (await open()).agent("echo two > a.txt; git commit -qam two; git config user.name Mallory");
    const again = await open();
    expect((await again.agent("git log -1 --format=%s")).stdout).toBe("two\n");
    expect(await again.take()).toMatchObject({ status: "imported" });
    expect(existsSync(join(stateFolder, "git"))).toBe(true);
    const next = await open();
    expect((await next.agent("git config user.name; git log -1 --format=%s; git status --porcelain")).stdout).toContain("Crucible\ntwo\n");
    expect(git("log", "--format=%s", "cru/app-1")).toBe("two\nfirst\n");
  });

  it("shows borrowed objects and shallow history, and refuses a partial clone", async () => {
    const source = testRepository();
    source.git("commit", "-q", "--allow-empty", "-m", "second");
    const folder = temporaryFolder();
    for (const [name, ...args] of [["shared", "--shared"], ["shallow", "--depth=1"]]) {
      source.git("clone", "-q", ...args, `${name === "shallow" ? "file://" : ""}${source.root}`, join(folder, name ?? ""));
      const root = join(folder, name ?? "");
      const gitDir = join(root, ".git");
      const worktrees = join(root, ".coven/worktrees");
      const clone = await agentPlace({ ...source, root, gitDir, worktrees, open: () => openRepository({ root, gitDir, worktrees, env: { PATH: process.env.PATH, HOME: source.home } }) });
      const { agent, take } = await clone.open();
      expect(await agent("git log --format=%s -1; echo x > x.txt; git add x.txt; git commit -qm new; git fsck")).toMatchObject({ code: 0, stdout: "second\n", stderr: "" });
      expect(await take()).toMatchObject({ status: "imported" });
      source.git("-C", root, "config", "extensions.partialClone", "origin");
      await expect(clone.open()).rejects.toMatchObject({ code: "unsupported" });
    }
  });
});

describe("openPrivateGit without a sandbox", () => {
  it("gives nothing", async () => {
    const repository = await testRepository().open();
    const worktree = await createWorktree({ bead: "app-1" }, repository);
    expect(await openPrivateGit({ worktree, stateFolder: temporaryFolder(), sandboxed: false }, repository)).toBeUndefined();
  });
});
