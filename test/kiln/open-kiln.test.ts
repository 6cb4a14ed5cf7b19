import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Kiln, openKiln } from "../../src/kiln/open-kiln.ts";
import { repository } from "../support/cru.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

const wordVectors = join(repository, "assets", "word-vectors", "words.bin");

type Setup = { root: string; cacheFolder: string; kiln(): Kiln; index(): string };

function setup(files: Record<string, string | Uint8Array>, options: { git?: boolean } = {}): Setup {
  const base = temporaryFolder();
  const [root, cacheFolder] = [join(base, "project"), join(base, "cache")];
  writeFiles(root, files);
  if (options.git === true) execFileSync("git", ["init", "-q", root]);
  const gitDir = options.git === true ? join(root, ".git") : undefined;
  return {
    root,
    cacheFolder,
    kiln: () => openKiln({ root, gitDir, cacheFolder, wordVectors }),
    index: () => join(cacheFolder, "kiln", readdirSync(join(cacheFolder, "kiln")).find((name) => name.endsWith(".idx")) ?? "none"),
  };
}

async function paths(kiln: Kiln): Promise<string[]> {
  await kiln.refresh();
  return kiln.list().map((note) => note.path);
}

async function found(kiln: Kiln, query: string): Promise<string[]> {
  await kiln.refresh();
  return (await kiln.search(query, { limit: 10 })).map((row) => row.path);
}

/** Old enough that a change of the same size within the clock's step is not in question. */
function age(path: string): void {
  const before = Date.now() / 1000 - 100;
  utimesSync(path, before, before);
}

const NOTES = { "ledger.md": "# Ledger\nDouble entry bookkeeping.\n", "deploy.md": "# Deploying\n\n## Rollback\nReturn to the previous image.\n" };

describe("kiln", () => {
  it("in a repository has tracked and new notes, without ignored ones and what agents leave behind", async () => {
    const { root, kiln } = setup(
      {
        "tracked.md": "a", "new.markdown": "b", "docs/UPPER.MD": "c", "ignored.md": "d", ".gitignore": "ignored.md\n", "code.ts": "e",
        ".crucible/sessions/s/session.md": "f", ".crucible/agents/x.md": "g", ".coven/worktrees/b/readme.md": "h", "pkg/node_modules/p/readme.md": "i",
        ".crucible/inbox/x.md": "j", ".crucible/cache/x.md": "k",
      },
      { git: true },
    );
    execFileSync("git", ["-C", root, "add", "tracked.md"]);
    expect(await paths(kiln())).toEqual([".crucible/agents/x.md", "docs/UPPER.MD", "new.markdown", "tracked.md"]);
  });

  it("outside a repository walks the folder", async () => {
    const { kiln } = setup({ "a.md": "a", "deep/er/b.md": "b", ".hidden/c.md": "c", "node_modules/p/d.md": "d", ".coven/worktrees/x/e.md": "e", ".coven/spells/f.md": "f" });
    expect(await paths(kiln())).toEqual([".coven/spells/f.md", "a.md", "deep/er/b.md"]);
  });

  it("finds the section that answers, with its heading, line and some words", async () => {
    const { kiln } = setup(NOTES);
    const opened = kiln();
    await opened.refresh();
    const [first] = await opened.search("undo a release: go back to the previous image", { limit: 1 });
    expect(first).toMatchObject({ path: "deploy.md", title: "Deploying", heading: "Rollback", line: 3, snippet: "Return to the previous image." });
    expect(first?.score).toBeGreaterThan(0.1);
    expect(await opened.search("qzxqzx", { limit: 5 })).toEqual([]);
    expect(await opened.search("the of and", { limit: 5 })).toEqual([]);
    expect(await opened.search("\"*() NEAR:", { limit: 5 })).toEqual([]);
  });

  it("follows added, changed, renamed and deleted notes, and says how many", async () => {
    const { root, kiln } = setup(NOTES);
    const opened = kiln();
    expect(await opened.refresh()).toMatchObject({ notes: 2, added: 2, changed: 0, removed: 0 });
    expect(await opened.refresh()).toMatchObject({ notes: 2, added: 0, changed: 0, removed: 0 });
    writeFiles(root, { "deploy.md": "# Gardening\nTomatoes need water.\n", "new.md": "# Bicycle repair\nPatch the tyre.\n" });
    expect(await opened.refresh()).toMatchObject({ notes: 3, added: 1, changed: 1 });
    expect(await found(opened, "tomatoes")).toEqual(["deploy.md"]);
    expect(await found(opened, "rollback image")).not.toContain("deploy.md");
    renameSync(join(root, "new.md"), join(root, "moved.md"));
    rmSync(join(root, "ledger.md"));
    expect(await opened.refresh()).toMatchObject({ notes: 2, added: 1, removed: 2 });
    expect((await found(opened, "bicycle tyre"))[0]).toBe("moved.md");
    expect(await found(opened, "bookkeeping")).not.toContain("ledger.md");
  });

  it("sees a change that keeps size and time of modification", async () => {
    const { root, kiln } = setup({ "a.md": "alpha" });
    age(join(root, "a.md"));
    const opened = kiln();
    await opened.refresh();
    writeFileSync(join(root, "a.md"), "gamma");
    age(join(root, "a.md"));
    expect(await opened.refresh()).toMatchObject({ changed: 1 });
  });

  it("keeps the index for the next process, private to the user, and reads again only what changed", async () => {
    const { root, cacheFolder, kiln, index } = setup(NOTES);
    for (const name of Object.keys(NOTES)) age(join(root, name));
    await kiln().refresh();
    expect(statSync(index()).mode & 0o777).toBe(0o600);
    expect(statSync(join(cacheFolder, "kiln")).mode & 0o777).toBe(0o700);
    const again = kiln();
    expect(again.list().map((note) => note.path)).toEqual(["deploy.md", "ledger.md"]);
    expect(await again.refresh()).toMatchObject({ notes: 2, added: 0, changed: 0 });
    expect((await again.search("bookkeeping", { limit: 1 }))[0]?.path).toBe("ledger.md");
    expect(readdirSync(join(cacheFolder, "kiln"))).toHaveLength(1);
    expect(existsSync(join(root, ".crucible"))).toBe(false);
  });

  it("goes on with a kept index: new notes with old and new words are found, also by the process after that", async () => {
    const { root, kiln } = setup(NOTES);
    for (const name of Object.keys(NOTES)) age(join(root, name));
    await kiln().refresh();
    writeFiles(root, { "audit.md": "# Audit\nThe zyzzyva checks double entries.\n" });
    age(join(root, "audit.md"));
    const second = kiln();
    expect(await second.refresh()).toMatchObject({ notes: 3, added: 1, changed: 0 });
    for (const opened of [second, kiln()]) {
      expect((await opened.search("zyzzyva", { limit: 5 })).map((row) => row.path)).toEqual(["audit.md"]);
      expect((await opened.search("double entry", { limit: 2 })).map((row) => row.path).sort()).toEqual(["audit.md", "ledger.md"]);
      expect((await opened.search("previous image", { limit: 1 }))[0]?.path).toBe("deploy.md");
    }
  });

  it("makes a broken index again without a word", async () => {
    const { kiln, index } = setup(NOTES);
    await kiln().refresh();
    const whole = readFileSync(index());
    const flipped = Buffer.from(whole);
    flipped[whole.length - 10] = (flipped[whole.length - 10] ?? 0) ^ 0xff;
    for (const broken of [Buffer.alloc(0), whole.subarray(0, 40), Buffer.from("not an index at all, but long enough to look at"), flipped]) {
      writeFileSync(index(), broken);
      const opened = kiln();
      expect(opened.list()).toEqual([]);
      expect(await opened.refresh()).toMatchObject({ notes: 2, added: 2 });
      expect((await opened.search("bookkeeping", { limit: 1 }))[0]?.path).toBe("ledger.md");
    }
  });

  it("works without a place to keep the index", async () => {
    const { root, cacheFolder } = setup(NOTES);
    writeFileSync(cacheFolder, "a file where the folder should be");
    const opened = openKiln({ root, gitDir: undefined, cacheFolder, wordVectors });
    expect(await found(opened, "bookkeeping")).toEqual(["ledger.md"]);
  });

  it("works with words alone when there are no vectors", async () => {
    const { root, cacheFolder } = setup(NOTES);
    const opened = openKiln({ root, gitDir: undefined, cacheFolder, wordVectors: join(root, "none") });
    expect(await found(opened, "bookkeeping")).toEqual(["ledger.md"]);
  });

  it("never reads through a link out of the project, nor a binary file", async () => {
    const secret = temporaryFolder();
    writeFiles(secret, { "secret.md": "# Secret\nxylophone passphrase\n", "notes/inner.md": "xylophone too\n" });
    const { root, kiln } = setup({ "a.md": "plain", "folder/b.md": "xylophone inside", "binary.md": Uint8Array.from([120, 0, 1, 2]) }, { git: true });
    execFileSync("git", ["-C", root, "add", "-A"]);
    symlinkSync(join(secret, "secret.md"), join(root, "link.md"));
    const opened = kiln();
    expect(await found(opened, "xylophone")).toEqual(["folder/b.md"]);
    // A tracked folder is swapped for a link after it was indexed.
    rmSync(join(root, "folder"), { recursive: true });
    symlinkSync(join(secret, "notes"), join(root, "folder"));
    writeFiles(secret, { "notes/b.md": "xylophone outside\n" });
    expect(await found(opened, "xylophone")).toEqual([]);
  });

  it("knows a note by path, name, alias, title and link, and says when several are meant", async () => {
    const { kiln } = setup({ "a/plan.md": "# The plan\n", "b/plan.md": "x", "c/ledger.md": "---\naliases: [books]\n---\n# Money\n" });
    const opened = kiln();
    await opened.refresh();
    for (const name of ["c/ledger.md", "./c/ledger.md", "c/ledger", "ledger", "[[Ledger]]", "[[ledger#Part|label]]", "books", "money"]) expect(opened.resolve(name)).toEqual(["c/ledger.md"]);
    expect(opened.resolve("plan")).toEqual(["a/plan.md", "b/plan.md"]);
    expect(opened.resolve("nothing")).toEqual([]);
    expect(opened.list("b/").map((note) => note.path)).toEqual(["b/plan.md"]);
  });

  it("stopped in the middle of a refresh, takes no note for deleted", async () => {
    const { kiln } = setup(NOTES, { git: true });
    const opened = kiln();
    await opened.refresh();
    const stop = new AbortController();
    stop.abort();
    expect(await opened.refresh({ signal: stop.signal })).toMatchObject({ notes: 2, removed: 0 });
    expect(opened.list()).toHaveLength(2);
  });
});
