import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { changesOf } from "../../src/worktree/changes.ts";
import { commitAll } from "../../src/worktree/commit-all.ts";
import { createWorktree } from "../../src/worktree/create-worktree.ts";
import { listOrphans } from "../../src/worktree/orphans.ts";
import { removeWorktree } from "../../src/worktree/remove-worktree.ts";
import { testRepository } from "../support/repository.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

async function place(files: Record<string, string | Uint8Array> = { "a.txt": "one\n", "b.txt": "b\n".repeat(20), ".gitignore": "*.log\n", "forced.log": "kept\n" }, init: string[] = []) {
  const box = testRepository(files, init);
  if ("forced.log" in files) {
    box.git("add", "-f", "forced.log");
    box.git("commit", "-q", "--amend", "--no-edit");
  }
  const repository = await box.open();
  const worktree = await createWorktree({ bead: "app-1" }, repository);
  return { ...box, repository, worktree };
}

/** Appends its name to a canary file whenever git runs it. */
function canary() {
  const folder = temporaryFolder();
  const [ran, evil] = [join(folder, "ran"), join(folder, "evil.sh")];
  writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> ${ran}\ncat\n`);
  chmodSync(evil, 0o755);
  const config = `[core]
 fsmonitor = ${evil} fsmonitor
 hooksPath = ${folder}/hooks
[filter "evil"]
 clean = ${evil} clean
 smudge = ${evil} smudge
 process = ${evil} process
 required = true
[diff]
 external = ${evil} external
[diff "evil"]
 textconv = ${evil} textconv
[commit]
 gpgSign = true
[gpg]
 program = ${evil} gpg
[submodule "sub"]
 update = !${evil} update
`;
  for (const hook of ["pre-commit", "post-checkout", "reference-transaction", "post-index-change"]) {
    writeFiles(folder, { [`hooks/${hook}`]: `#!/bin/sh\n${evil} ${hook}\n` });
    chmodSync(join(folder, "hooks", hook), 0o755);
  }
  return { evil, config, ran: () => (existsSync(ran) ? readFileSync(ran, "utf8") : "") };
}

describe("changesOf and commitAll", () => {
  it.each([[[]], [["--object-format=sha256"]]])("see edited, new, deleted and renamed files, and commit them to the branch (init %j)", async (init) => {
    const { worktree, repository, git } = await place(undefined, init);
    expect(await changesOf(worktree, repository)).toEqual({ files: [], diff: "", truncated: false, left: [] });
    expect(await commitAll(worktree, { subject: "x" }, repository)).toEqual({ status: "nothing", commit: worktree.base, left: [] });
    renameSync(join(worktree.path, "b.txt"), join(worktree.path, "c.txt"));
    writeFiles(worktree.path, { "a.txt": "two\n", "new dir/ü \"q\".txt": "n\n", "noise.log": "ignored\n" });
    writeFileSync(Buffer.concat([Buffer.from(`${worktree.path}/bad-`), Buffer.from([0xff])]), "bytes\n");
    const changes = await changesOf(worktree, repository);
    expect(changes.files.map(({ path, status }) => [status, path])).toEqual([["modified", "a.txt"], ["added", "bad-\ufffd"], ["renamed", "c.txt"], ["added", 'new dir/ü "q".txt']]);
    expect(changes.diff).toContain("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n");
    const result = await commitAll(worktree, { subject: "Step \u001b[1mone\nmore", session: "2026-01-01-x" }, repository);
    expect(result.status).toBe("committed");
    expect(git("log", "-1", "--format=%H%n%an <%ae>%n%P%n%B", "cru/app-1")).toBe(
      `${result.commit}\nCrucible <crucible@localhost>\n${worktree.base}\nStep ␛[1mone more\n\nBead: app-1\nSession: 2026-01-01-x\n\n`,
    );
    expect(git("-C", worktree.path, "status", "--porcelain")).toBe("");
    expect(git("ls-tree", "--name-only", "cru/app-1")).toContain("forced.log");
    expect((await changesOf(worktree, repository)).files).toHaveLength(4);
    expect(await commitAll(worktree, { subject: "x" }, repository)).toMatchObject({ status: "nothing", commit: result.commit });
    expect(git("status", "--porcelain")).toBe("");
    expect(git("log", "--format=%s", "main")).toBe("first\n");
  });

  it("commits as the user when git knows the user, and leaves out what the user ignores", async () => {
    const { home, git, open, worktree } = await place();
    writeFiles(home, { ".gitconfig": "[user]\n name = Ann <A>\n email = ann@example.invalid\n[core]\n excludesFile = ~/ignore\n[commit]\n gpgSign = true\n", ignore: ".idea\n" });
    writeFiles(worktree.path, { ".idea/x": "", "n.txt": "n" });
    const { commit } = await commitAll(worktree, { subject: "s" }, await open());
    expect(git("show", "-s", "--format=%an|%ae|%cn", commit)).toBe("Ann A|ann@example.invalid|Ann A\n");
    expect(git("show", "--name-only", "--format=", commit)).toBe("n.txt\n");
  });

  it("cuts a long diff and says so", async () => {
    const { worktree, repository } = await place();
    writeFiles(worktree.path, { "big.txt": "line\n".repeat(100_000) });
    const { diff, truncated, files } = await changesOf(worktree, repository, { maxBytes: 10_000 });
    expect([truncated, files.length, diff.length < 11_000]).toEqual([true, 1, true]);
  });

  it("S13: runs nothing that the repository, a replaced .git, attributes or nested repositories name", async () => {
    const { worktree, repository, gitDir, git } = await place();
    const { evil, config, ran } = canary();
    writeFileSync(join(gitDir, "config"), readFileSync(join(gitDir, "config"), "utf8") + config);
    const hostile = join(temporaryFolder(), "hostile");
    git("init", "-q", hostile);
    writeFileSync(join(hostile, ".git/config"), config);
    for (const shape of ["folder", "link", "gitdir"]) {
      rmSync(join(worktree.path, ".git"), { recursive: true, force: true });
      if (shape === "folder") renameSync(join(hostile, ".git"), join(worktree.path, ".git"));
      else if (shape === "link") symlinkSync(join(hostile, ".git"), join(worktree.path, ".git"));
      else writeFileSync(join(worktree.path, ".git"), `gitdir: ${join(worktree.path, ".x")}\n`);
      if (shape === "folder") mkdirSync(join(hostile, ".git"));
      writeFiles(worktree.path, { ".gitattributes": "* filter=evil diff=evil merge=evil\n", ".gitmodules": `[submodule "sub"]\n path = sub\n url = ext::${evil}\n update = !${evil}\n`, "a.txt": `${shape}\n`, ".x/HEAD": "ref: x\n" });
      mkdirSync(join(worktree.path, "nested"), { recursive: true });
      writeFiles(join(worktree.path, "nested"), { ".git/HEAD": "ref: refs/heads/main\n", ".git/config": config, ".git/refs/heads/main": `${worktree.base}\n`, ".git/objects/x": "", "n.txt": "n\n" });
      const changes = await changesOf(worktree, repository);
      expect(changes.diff).toContain(`+${shape}`);
      expect(changes.left).toEqual(["nested/ (a repository of its own)"]);
      expect((await commitAll(worktree, { subject: shape }, repository)).status).toBe("committed");
    }
    await createWorktree({ bead: "other" }, repository);
    expect(ran()).toBe("");
    expect(git("ls-tree", "-r", "--name-only", "cru/app-1")).not.toContain("nested");
  });

  it("S13: asks no repository behind a gitlink that an agent committed; submodules stay as they were", async () => {
    const { worktree, repository, git } = await place();
    const { config, ran } = canary();
    git("-C", worktree.path, "update-index", "--add", "--cacheinfo", `160000,${worktree.base},sub`, "--cacheinfo", `160000,${worktree.base},gone`);
    git("-C", worktree.path, "commit", "-qm", "links");
    writeFiles(join(worktree.path, "sub"), { ".git/HEAD": "ref: refs/heads/main\n", ".git/config": config, ".git/refs/heads/main": `${worktree.base}\n`, ".git/objects/x": "", "n.txt": "n\n" });
    writeFiles(worktree.path, { "gone/file.txt": "now files\n", "a.txt": "two\n" });
    await commitAll(worktree, { subject: "s" }, repository);
    await changesOf(worktree, repository);
    expect(ran()).toBe("");
    expect(git("ls-tree", "-r", "--format=%(objectmode) %(path)", "cru/app-1").split("\n")).toEqual(expect.arrayContaining(["160000 sub", "100644 gone/file.txt"]));
  });

  it("does not write through a link where the index should be", async () => {
    const { worktree, repository } = await place();
    const victim = join(temporaryFolder(), "victim");
    writeFileSync(victim, "victim\n");
    rmSync(join(worktree.gitDir, "index"));
    symlinkSync(victim, join(worktree.gitDir, "index"));
    writeFiles(worktree.path, { "a.txt": "two\n" });
    await commitAll(worktree, { subject: "s" }, repository);
    expect(readFileSync(victim, "utf8")).toBe("victim\n");
  });
});

describe("removeWorktree", () => {
  it("refuses to delete uncommitted work, or commits it first and keeps the branch", async () => {
    const { worktree, repository, git } = await place();
    writeFiles(worktree.path, { "n.txt": "n\n" });
    await expect(removeWorktree(worktree, { uncommitted: "refuse" }, repository)).rejects.toMatchObject({ code: "needs_person" });
    expect(existsSync(join(worktree.path, "n.txt"))).toBe(true);
    expect(await removeWorktree(worktree, { uncommitted: "commit" }, repository)).toMatchObject({ branch: "kept" });
    expect(existsSync(worktree.path)).toBe(false);
    expect(git("show", "cru/app-1:n.txt")).toBe("n\n");
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(await listOrphans(repository)).toEqual([]);
    expect((await createWorktree({ bead: "app-1" }, repository)).base).toBe(worktree.base);
    expect(existsSync(join(worktree.path, "n.txt"))).toBe(true);
  });

  it("removes an untouched one with its branch", async () => {
    const { worktree, repository, git } = await place();
    writeFiles(worktree.path, { "noise.log": "ignored\n" });
    expect(await removeWorktree(worktree, { uncommitted: "refuse" }, repository)).toEqual({ branch: "deleted", tip: worktree.base });
    expect(git("branch", "--list", "cru/*")).toBe("");
    expect(await listOrphans(repository)).toEqual([]);
  });

  it("never deletes a repository inside, or follows links out", async () => {
    const { worktree, repository, git } = await place();
    git("init", "-q", join(worktree.path, "inner"));
    for (const uncommitted of ["refuse", "commit"] as const) await expect(removeWorktree(worktree, { uncommitted }, repository)).rejects.toThrow("inner/ (a repository of its own)");
    rmSync(join(worktree.path, "inner"), { recursive: true });
    const outside = temporaryFolder();
    writeFiles(outside, { "keep.txt": "k" });
    symlinkSync(outside, join(worktree.path, "link"));
    await removeWorktree(worktree, { uncommitted: "commit" }, repository);
    expect(existsSync(join(outside, "keep.txt"))).toBe(true);
  });
});
