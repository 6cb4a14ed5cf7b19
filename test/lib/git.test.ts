import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { git, plainGit } from "../../src/lib/git.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

const identity = { name: "Test", email: "test@example.invalid" };

async function repository() {
  const root = temporaryFolder();
  expect((await plainGit(["init", "-q", "-b", "main", root])).code).toBe(0);
  writeFiles(root, { "a.txt": "one\n" });
  const place = { gitDir: join(root, ".git"), workTree: root };
  expect((await git(place, ["add", "a.txt"])).code).toBe(0);
  expect((await git(place, ["commit", "-qm", "first"], { identity })).code).toBe(0);
  return { root, place };
}

describe("git", () => {
  it("commits without any configuration of the user, with the identity it is given", async () => {
    const { place } = await repository();
    expect((await git(place, ["log", "--format=%an <%ae> %s"])).stdout).toBe("Test <test@example.invalid> first\n");
  });

  it("runs no program that the repository's configuration names", async () => {
    const { root, place } = await repository();
    const canary = join(temporaryFolder(), "ran");
    const evil = join(temporaryFolder(), "evil.sh");
    writeFileSync(evil, `#!/bin/sh\necho "$0 $*" >> ${canary}\ncat\n`);
    chmodSync(evil, 0o755);
    writeFileSync(join(root, ".git", "included"), `[filter "inc"]\n clean = ${evil} inc\n required = true\n`);
    writeFileSync(
      join(root, ".git", "config"),
      `${readFileSync(join(root, ".git", "config"), "utf8")}
[core]
 fsmonitor = ${evil} fsmonitor
 hooksPath = ${join(root, "hooks")}
 pager = ${evil} pager
 editor = ${evil} editor
 sshCommand = ${evil} ssh
[filter "evil"]
 clean = ${evil} clean
 smudge = ${evil} smudge
 process = ${evil} process
 required = true
[diff]
 external = ${evil} external
[diff "evil"]
 textconv = ${evil} textconv
 command = ${evil} command
[merge "evil"]
 driver = ${evil} merge %O %A %B
[gpg]
 program = ${evil} gpg
[commit]
 gpgSign = true
[credential]
 helper = !${evil} credential
[INCLUDE]
 path = included
[remote "origin"]
 url = ext::${evil} remote
 uploadpack = ${evil} up
`,
    );
    writeFiles(root, { ".gitattributes": "*.txt filter=evil diff=evil merge=evil\n*.inc filter=inc\n", "b.inc": "x\n", "hooks/pre-commit": `#!/bin/sh\n${evil} hook\n`, "a.txt": "two\n" });
    chmodSync(join(root, "hooks", "pre-commit"), 0o755);

    expect((await git(place, ["status", "--porcelain"])).stdout).toContain(" M a.txt");
    expect((await git(place, ["diff"])).stdout).toContain("+two");
    expect((await git(place, ["add", "-A"])).code).toBe(0);
    expect(await git(place, ["commit", "-qm", "second"], { identity })).toMatchObject({ code: 0 });
    expect((await git(place, ["show"])).stdout).toContain("+two");
    expect((await git(place, ["log", "-p"])).stdout).toContain("+two");
    rmSync(join(root, "a.txt"));
    expect((await git(place, ["checkout", "--", "a.txt"])).code).toBe(0);
    expect((await git(place, ["checkout", "-q", "-b", "side", "HEAD~1"])).code).toBe(0);
    writeFiles(root, { "a.txt": "three\n", ".gitattributes": "*.txt filter=evil diff=evil merge=evil\n" });
    expect((await git(place, ["add", "-A"])).code).toBe(0);
    expect((await git(place, ["commit", "-qm", "third"], { identity })).code).toBe(0);
    await git(place, ["merge", "main"], { identity });
    expect((await git(place, ["fetch", "origin"])).code).not.toBe(0);
    expect(existsSync(canary) ? readFileSync(canary, "utf8") : "").toBe("");
  });

  it.each([
    (evil: string) => `[core] bare = false\n[core] [FILTER "evil"] CLEAN\t= ${evil}\n`,
    (evil: string) => `[filter.evil]clean=${evil}\n`,
    (evil: string) => `[core][include]path = included\n# ${evil}`,
  ])("finds a program however it is written (%#)", async (config) => {
    const { root, place } = await repository();
    const canary = join(temporaryFolder(), "ran");
    const evil = join(temporaryFolder(), "evil.sh");
    writeFileSync(evil, `#!/bin/sh\necho ran >> ${canary}\ncat\n`);
    chmodSync(evil, 0o755);
    writeFileSync(join(root, ".git", "included"), `[filter "evil"]\n clean = ${evil}\n`);
    writeFileSync(join(root, ".git", "config"), `${readFileSync(join(root, ".git", "config"), "utf8")}${config(evil)}`);
    writeFiles(root, { ".gitattributes": "*.txt filter=evil\n", "b.txt": "x\n" });
    expect((await git(place, ["add", "-A"])).code).toBe(0);
    expect(existsSync(canary)).toBe(false);
  });

  it("does not follow a `.git` that was replaced in the folder", async () => {
    const { root, place } = await repository();
    const other = await repository();
    const linked = join(temporaryFolder(), "tree");
    expect((await git(place, ["worktree", "add", "-q", "--no-track", "-b", "cru/x", linked])).code).toBe(0);
    rmSync(join(linked, ".git"));
    symlinkSync(join(other.root, ".git"), join(linked, ".git"));
    const gitDir = join(root, ".git", "worktrees", "tree");
    const result = await git({ gitDir, commonDir: join(root, ".git"), workTree: linked }, ["rev-parse", "--abbrev-ref", "HEAD"]);
    expect(result.stdout).toBe("cru/x\n");
  });
});
