import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createWorktree, findWorktree } from "../../src/worktree/create-worktree.ts";
import { listOrphans, mend } from "../../src/worktree/orphans.ts";
import { openRepository } from "../../src/worktree/repository.ts";
import { program, start } from "../support/program.ts";
import { testRepository } from "../support/repository.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

/** All 100 in the long run; `npm run bench` makes 100 as well. */
const AT_ONCE = process.env.CRU_TEST_LONG === "1" ? 100 : 40;

describe("createWorktree", () => {
  it("checks the bead's branch out from the base, invisible to git status, and opens it again as it is", async () => {
    const { root, git, open } = testRepository({ "a.txt": "one\n", "deep/b.txt": "b\n" });
    const repository = await open();
    const made = await createWorktree({ bead: "app-1" }, repository);
    expect(made).toEqual({
      bead: "app-1", slug: "app-1", path: join(root, ".coven/worktrees/app-1"), branch: "cru/app-1", base: git("rev-parse", "HEAD").trim(), gitDir: join(root, ".git/worktrees/app-1"),
    });
    expect(readFileSync(join(made.path, "deep/b.txt"), "utf8")).toBe("b\n");
    expect(git("status", "--porcelain")).toBe("");
    expect(git("-C", made.path, "status", "--porcelain", "--branch")).toBe("## cru/app-1\n");
    writeFiles(made.path, { "a.txt": "two\n" });
    writeFiles(root, { "c.txt": "c\n" });
    git("add", "-A");
    git("commit", "-qm", "second");
    expect(await createWorktree({ bead: "app-1" }, await open())).toEqual(made);
    expect(findWorktree("app-1", repository)).toEqual(made);
    expect(readFileSync(join(made.path, "a.txt"), "utf8")).toBe("two\n");
    expect(await listOrphans(repository)).toEqual([]);
    expect(findWorktree("app-2", repository)).toBeUndefined();
  });

  it("starts from the base that is asked for, also when HEAD is detached", async () => {
    const { root, git, open } = testRepository();
    const first = git("rev-parse", "HEAD").trim();
    writeFiles(root, { "a.txt": "two\n" });
    git("commit", "-qam", "second");
    git("checkout", "-q", "--detach");
    const repository = await open();
    expect((await createWorktree({ bead: "x-1", base: "main~1" }, repository)).base).toBe(first);
    expect((await createWorktree({ bead: "x-2" }, repository)).base).toBe(git("rev-parse", "main").trim());
    for (const base of ["nothing", "--all", "HEAD:a.txt"]) await expect(createWorktree({ bead: "x-3", base }, repository)).rejects.toMatchObject({ code: "usage" });
  });

  it("gives every id a folder and a branch of its own", async () => {
    const repository = await testRepository().open();
    const beads = ["App-1", "app-1", "app 1", "APP-1", "../../etc", "x".repeat(90), `${"x".repeat(89)}y`, "-rf", "a..b", "x.lock", "head", "ünï", ".git"];
    const made = [];
    for (const bead of beads) made.push(await createWorktree({ bead }, repository));
    expect(new Set(made.map((w) => w.path.toLowerCase())).size).toBe(beads.length);
    expect(made.every((w) => w.slug.length <= 40 && w.path === join(repository.worktrees, w.slug))).toBe(true);
    expect(beads.map((bead) => findWorktree(bead, repository))).toEqual(made);
  });

  it(`R13: ${AT_ONCE} at once, from two processes: no failure, no orphan`, { timeout: 120_000 }, async () => {
    const { root, gitDir, worktrees, home, git, open } = testRepository(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`src/f${i}.txt`, `${i}\n`])));
    git("remote", "add", "origin", "https://example.invalid/x.git");
    const maker = await program(`
      import { createWorktree } from "@src/worktree/create-worktree.ts";
      import { openRepository } from "@src/worktree/repository.ts";
      const [root, gitDir, worktrees, home, from, count] = process.argv.slice(2);
      const repository = await openRepository({ root, gitDir, worktrees, env: { PATH: process.env.PATH, HOME: home } });
      const made = await Promise.allSettled(Array.from({ length: Number(count) }, (_, i) => createWorktree({ bead: "b-" + (Number(from) + i) }, repository)));
      for (const one of made) if (one.status === "rejected") console.log(one.reason);
    `);
    const half = AT_ONCE / 2;
    const makers = [0, half].map((from) => start(maker, [root, gitDir, worktrees, home, String(from), String(half)]));
    await Promise.all(makers.map((m) => m.ended));
    expect(makers.map((m) => m.output())).toEqual(["", ""]);
    const repository = await open();
    expect(await listOrphans(repository)).toEqual([]);
    expect(readdirSync(worktrees).filter((name) => name.startsWith("b-"))).toHaveLength(AT_ONCE);
    expect(git("branch", "--list", "cru/*").trim().split("\n")).toHaveLength(AT_ONCE);
    for (let i = 0; i < AT_ONCE; i++) expect(readFileSync(join(worktrees, `b-${i}`, "src/f19.txt"), "utf8")).toBe("19\n");
    expect(git("worktree", "list", "--porcelain")).not.toContain("prunable");
    expect(git("-C", join(worktrees, `b-${AT_ONCE - 1}`), "status", "--porcelain")).toBe("");
    expect(git("config", "--list")).not.toContain("branch.cru/");
  });

  it("two that open one bead at the same time get the same worktree", async () => {
    const { open } = testRepository();
    const [a, b] = [await open(), await open()];
    const [first, second] = await Promise.all([createWorktree({ bead: "x-1" }, a), createWorktree({ bead: "x-1" }, b)]);
    expect(first).toEqual(second);
  });

  it("R13: is finished after a crash at every point, by the next call or by mend", { timeout: 120_000 }, async () => {
    const { git, open, worktrees, gitDir, root } = testRepository();
    const repository = await open();
    await createWorktree({ bead: "model" }, repository);
    const record = readFileSync(join(worktrees, ".records/model.json"), "utf8");
    const crashes: Record<string, (slug: string) => void> = {
      "after the record": () => {},
      "after the branch": (slug) => void git("branch", `cru/${slug}`),
      "after the registration": (slug) => void git("worktree", "add", "-q", "--no-checkout", "--no-track", "-b", `cru/${slug}`, join(worktrees, slug)),
      "in the checkout": (slug) => {
        git("worktree", "add", "-q", "--no-checkout", "--no-track", "-b", `cru/${slug}`, join(worktrees, slug));
        writeFileSync(join(gitDir, "worktrees", slug, "index.lock"), "");
        writeFileSync(join(worktrees, slug, "a.txt"), "half");
      },
      "when the folder was deleted": (slug) => {
        git("worktree", "add", "-q", "--no-track", "-b", `cru/${slug}`, join(worktrees, slug));
        rmSync(join(worktrees, slug), { recursive: true });
      },
    };
    for (const [i, crash] of Object.values(crashes).entries()) {
      for (const how of ["open", "mend"]) {
        const slug = `${how}-${i}`;
        writeFileSync(join(worktrees, ".records", `${slug}.json`), record.replaceAll("model", slug));
        crash(slug);
        expect(await listOrphans(repository)).toMatchObject([{ slug }]);
        const mended = how === "open" ? [(await createWorktree({ bead: slug }, repository)).slug] : (await mend(repository)).map((m) => m.orphan.slug);
        expect(mended).toEqual([slug]);
        expect(await listOrphans(repository)).toEqual([]);
        // Opening always gives a clean worktree; mending finishes one, or leaves neither folder nor branch.
        const isThere = existsSync(join(worktrees, slug));
        expect(isThere || how === "mend").toBe(true);
        expect(isThere ? git("-C", join(worktrees, slug), "status", "--porcelain") : git("branch", "--list", `cru/${slug}`)).toBe("");
      }
    }
    expect(git("-C", root, "status", "--porcelain")).toBe("");
  });

  it("brings work back whose registration was lost", async () => {
    const { open, gitDir, git } = testRepository();
    const repository = await open();
    const { path } = await createWorktree({ bead: "x-1" }, repository);
    writeFiles(path, { "a.txt": "changed\n", "new/b.txt": "b\n" });
    rmSync(join(gitDir, "worktrees", "x-1"), { recursive: true });
    expect(await listOrphans(repository)).toEqual([{ slug: "x-1", kind: "unregistered_folder", what: "x-1" }]);
    await createWorktree({ bead: "x-1" }, repository);
    expect(git("-C", path, "status", "--porcelain")).toBe(" M a.txt\n?? new/\n");
    rmSync(join(path, ".git"));
    expect(await mend(repository)).toMatchObject([{ done: "finished" }]);
    expect(git("-C", path, "status", "--porcelain")).toBe(" M a.txt\n?? new/\n");
    expect(await listOrphans(repository)).toEqual([]);
  });

  it("leaves alone what it does not know, and kept branches", async () => {
    const { open, worktrees, git } = testRepository();
    const repository = await open();
    mkdirSync(join(worktrees, "mine"), { recursive: true });
    writeFiles(worktrees, { "mine/x.txt": "x" });
    git("branch", "cru/kept");
    git("update-ref", "refs/heads/cru/kept", git("commit-tree", "-p", "HEAD", "-m", "work", "HEAD^{tree}").trim());
    expect(await mend(repository)).toEqual([{ orphan: { slug: "mine", kind: "unregistered_folder", what: "mine" }, done: "kept" }]);
    expect(readFileSync(join(worktrees, "mine/x.txt"), "utf8")).toBe("x");
    expect(git("branch", "--list", "cru/kept")).toContain("cru/kept");
    const reopened = await createWorktree({ bead: "kept" }, repository);
    expect(reopened.base).toBe(git("rev-parse", "main").trim());
    expect(git("-C", reopened.path, "log", "--format=%s", "-1")).toBe("work\n");
  });

  it("says clearly why there can be no worktree", async () => {
    const { root, worktrees, gitDir, home, git } = testRepository();
    const env = { PATH: process.env.PATH, HOME: home };
    const failure = (gitDir_: string | undefined, path = process.env.PATH): Promise<unknown> => openRepository({ root, gitDir: gitDir_, worktrees, env: { ...env, PATH: path } });
    await expect(failure(undefined)).rejects.toMatchObject({ code: "usage", hint: expect.stringContaining("git init") });
    const bare = join(temporaryFolder(), "bare.git");
    git("init", "-q", "--bare", bare);
    await expect(failure(bare)).rejects.toThrow("bare");
    const unborn = join(temporaryFolder(), "new");
    git("init", "-q", unborn);
    await expect(failure(join(unborn, ".git"))).rejects.toMatchObject({ hint: expect.stringContaining("first commit") });
    const saved = process.env.PATH;
    try {
      process.env.PATH = temporaryFolder();
      await expect(failure(gitDir)).rejects.toThrow("git was not found");
    } finally {
      process.env.PATH = saved;
    }
    const repository = await openRepository({ root, gitDir, worktrees, env });
    git("checkout", "-q", "-b", "cru/here");
    await expect(createWorktree({ bead: "here" }, repository)).rejects.toThrow(`is checked out in ${root}`);
    git("checkout", "-q", "main");
    git("branch", "-D", "cru/here");
    git("branch", "cru");
    await expect(createWorktree({ bead: "x-1" }, repository)).rejects.toThrow("a branch named 'cru'");
  });

  it("tells of shallow clones, submodules and LFS", async () => {
    const source = testRepository({ ".gitattributes": "*.bin filter=lfs\n", ".gitmodules": "" });
    source.git("commit", "--allow-empty", "-qm", "second");
    const clone = join(temporaryFolder(), "clone");
    source.git("clone", "-q", "--depth", "1", `file://${source.root}`, clone);
    const repository = await openRepository({ root: clone, gitDir: join(clone, ".git"), worktrees: join(clone, ".coven/worktrees"), env: { PATH: process.env.PATH, HOME: source.home } });
    expect(repository.warnings.map((w) => w.split(" ").slice(0, 2).join(" "))).toEqual(["a shallow", "submodules are", "Git LFS:"]);
    expect((await createWorktree({ bead: "x-1" }, repository)).branch).toBe("cru/x-1");
  });
});
