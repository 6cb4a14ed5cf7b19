import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { finish, machine, repository } from "../../support/cru.ts";
import { describeSandboxed } from "../../support/sandbox.ts";
import { temporaryFolder } from "../../support/temp.ts";

describeSandboxed("cru demo", () => {
  it("works on a real repository from the failing test to the mended one, and leaves nothing behind", async () => {
    const box = machine();
    const folder = temporaryFolder();
    const { code, stdout, stderr } = await box.cru(["demo"], { env: { TMPDIR: folder } });
    expect(stderr).toBe("");
    expect(code).toBe(0);
    const inOrder = [
      "Only the model is scripted",
      "not ok 2 - three times ten cents is thirty cents",
      "→ Running explore agent...",
      "[x] cause: Find out why the test fails (agent: explore)",
      "+permissions: [FilesystemRead, SemanticSearch]",
      "approved ",
      "The test fails because `total()` adds fractions of euros",
      "A task: an agent alone in a sandboxed worktree",
      "+  return cents / 100;",
      "└─ [explore] ",
      "ok 2 - three times ten cents is thirty cents",
      "# fail 0",
      "Now in a repository of yours:",
    ];
    let at = 0;
    for (const text of inOrder) {
      const found = stdout.indexOf(text, at);
      expect(found, `"${text}" in what follows\n${stdout.slice(at)}`).toBeGreaterThanOrEqual(0);
      at = found + text.length;
    }
    expect(readdirSync(folder)).toEqual([]);
    expect(readdirSync(box.home)).toEqual([]);
    expect(readdirSync(box.project)).toEqual([]);
  });

  it("keeps the repository when asked, with the agent's work on its branch only", async () => {
    const folder = temporaryFolder();
    const { code, stdout } = await machine().cru(["demo", "--keep"], { env: { TMPDIR: folder } });
    expect(code).toBe(0);
    const project = join(folder, readdirSync(folder)[0] ?? "", "till");
    expect(stdout).toContain(project);
    expect(existsSync(join(project, ".crucible/agents/money-reviewer.md"))).toBe(true);
    expect(readdirSync(join(project, ".coven/worktrees")).filter((name) => name.startsWith("till-"))).toHaveLength(1);
  });
});

describeSandboxed("cru demo without a sandbox", () => {
  it("says so in its first lines, and still works", async () => {
    const bubblewrap = onPath("bwrap");
    const { code, stdout } = await finish(bubblewrap, ["--dev-bind", "/", "/", "--ro-bind", "/dev/null", bubblewrap, "--", process.execPath, join(repository, "dist/main.js"), "demo"], {
      cwd: temporaryFolder(),
      env: { PATH: process.env.PATH ?? "", HOME: temporaryFolder(), TMPDIR: temporaryFolder() },
    });
    expect(stdout.split("\n").slice(0, 3).join("\n")).toContain("No sandbox here");
    expect(stdout).not.toContain("sandboxed worktree");
    expect(stdout).toContain("# fail 0");
    expect(code).toBe(0);
  });
});

describe("cru demo", () => {
  it("leaves nothing behind when nobody listens any more", async () => {
    const folder = temporaryFolder();
    const run = await finish("bash", ["--norc", "-c", `'${process.execPath}' '${join(repository, "dist/main.js")}' demo | head -n 1; echo "\${PIPESTATUS[0]}"`], {
      cwd: folder, env: { PATH: process.env.PATH ?? "", HOME: temporaryFolder(), TMPDIR: folder },
    });
    expect(run.stdout.trimEnd().split("\n").at(-1)).toBe("130");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("a step that goes wrong ends it with what it was, and exit code 1", async () => {
    const bin = temporaryFolder();
    mkdirSync(join(bin, "git"));
    const { code, stderr } = await machine().cru(["demo"], { env: { PATH: bin, TMPDIR: temporaryFolder() } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/git/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

function onPath(name: string): string {
  const found = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)).find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${name} is not on PATH`);
  return found;
}
