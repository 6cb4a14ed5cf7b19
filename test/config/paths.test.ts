import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findPaths, homeFolder } from "../../src/config/paths.ts";
import { repository } from "../support/cru.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

function folders(...names: string[]): string {
  const base = temporaryFolder();
  for (const name of ["home", ...names]) mkdirSync(join(base, name), { recursive: true });
  return base;
}

function git(cwd: string, ...args: string[]): void {
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], {
    cwd, stdio: "pipe", env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" },
  });
}

const rootFrom = (base: string, cwd: string): string => findPaths(join(base, cwd), { HOME: join(base, "home") }).root.slice(base.length + 1);

describe("the project's root", () => {
  it.each([
    ["nearest .crucible", ["p/.crucible", "p/a/b"], "p/a/b", "p"],
    ["nearest .coven", ["p/.coven", "p/a/b"], "p/a/b", "p"],
    ["the inner of two", ["p/.crucible", "p/a/.coven", "p/a/b"], "p/a/b", "p/a"],
    ["not above the git root", ["p/.crucible", "p/a/.git", "p/a/b"], "p/a/b", "p/a"],
    ["the git root itself may have it", ["p/.git", "p/.crucible", "p/a"], "p/a", "p"],
    ["else the git root", ["p/.git", "p/a/b"], "p/a/b", "p"],
    ["else the working folder", ["p/a"], "p/a", "p/a"],
    ["never the home folder for its .crucible", ["home/.crucible", "home/a"], "home/a", "home/a"],
    ["never the home folder for its .git", ["home/.git", "home/a"], "home/a", "home/a"],
    ["nothing above the home folder", [".crucible", "home/a"], "home/a", "home/a"],
    ["a project in the home folder", ["home/.crucible", "home/p/.crucible", "home/p/a"], "home/p/a", "home/p"],
  ])("%s", (_, names, cwd, root) => {
    expect(rootFrom(folders(...names), cwd)).toBe(root);
  });

  it("a file called .crucible is no project", () => {
    const base = folders("p/a");
    writeFiles(base, { "p/.crucible": "" });
    expect(rootFrom(base, "p/a")).toBe("p/a");
  });

  it("is the same through a symlink", () => {
    const base = folders("p/.crucible", "p/a");
    symlinkSync(join(base, "p", "a"), join(base, "link"));
    expect(rootFrom(base, "link")).toBe("p");
  });

  it("inside a linked worktree it is the main checkout, with that one's definitions", () => {
    const base = folders("p/.crucible/agents");
    writeFiles(base, { "p/.crucible/agents/a.md": "a" });
    git(join(base, "p"), "init", "-q");
    git(join(base, "p"), "add", "-A");
    git(join(base, "p"), "commit", "-qm", "a");
    git(join(base, "p"), "worktree", "add", "-q", "../w");
    mkdirSync(join(base, "w", "deep"));
    const paths = findPaths(join(base, "w", "deep"), { HOME: join(base, "home") });
    expect(paths.root).toBe(join(base, "p"));
    expect(paths.gitDir).toBe(join(base, "p", ".git"));
    expect(paths.project.agents).toBe(join(base, "p", ".crucible", "agents"));
  });

  it("a folder that only claims to be a worktree of another project is its own project", () => {
    const base = folders("p/.crucible", "evil/sub");
    git(join(base, "p"), "init", "-q");
    writeFiles(base, { "evil/.git": "gitdir: ./fake\n", "evil/fake/commondir": `${base}/p/.git\n`, "evil/fake/gitdir": `${base}/evil/.git\n` });
    expect(rootFrom(base, "evil/sub")).toBe("evil");
  });

  it("a submodule is its own project", () => {
    const base = folders("p/.git/modules/s", "p/s/a", "p/.crucible");
    writeFiles(base, { "p/s/.git": "gitdir: ../.git/modules/s\n" });
    expect(rootFrom(base, "p/s/a")).toBe("p/s");
  });

  it.each([["empty", ""], ["no gitdir", "hello\n"], ["a gitdir that is not there", "gitdir: /nowhere/at/all\n"]])("a .git file that is %s does not stop it", (_, text) => {
    const base = folders("p/a");
    writeFiles(base, { "p/.git": text });
    expect(rootFrom(base, "p/a")).toBe("p");
  });
});

describe("the user's folders", () => {
  it("follow the XDG variables, whose relative values are invalid", () => {
    const base = folders("p");
    const xdg = { XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s", XDG_CACHE_HOME: "/k" };
    expect(findPaths(join(base, "p"), { HOME: join(base, "home"), ...xdg }).user).toEqual({
      agents: "/c/crucible/agents", config: "/c/crucible/config.yaml", claudeAgents: join(base, "home/.claude/agents"),
      state: "/s/crucible", trust: "/s/crucible/trust", aside: "/s/crucible/aside", cache: "/k/crucible",
    });
    const relative = findPaths(join(base, "p"), { HOME: join(base, "home"), XDG_CONFIG_HOME: "c", XDG_STATE_HOME: "", XDG_CACHE_HOME: "./k" }).user;
    expect([relative.config, relative.state, relative.cache]).toEqual(
      [".config/crucible/config.yaml", ".local/state/crucible", ".cache/crucible"].map((path) => join(base, "home", path)),
    );
  });

  it("a program without its built-in files says so", () => {
    const folder = join(temporaryFolder(), "lib", "cru");
    cpSync(join(repository, "dist"), join(folder, "dist"), { recursive: true });
    const { status, stderr } = spawnSync(process.execPath, [join(folder, "dist", "main.js"), "agents", "list"], { encoding: "utf8", cwd: folder, env: { HOME: folder }, timeout: 60_000 });
    expect([status, stderr]).toEqual([1, expect.stringContaining("cru is not installed completely")]);
  });

  it("the home folder is a real path, or as given when it is not there", () => {
    const base = folders();
    symlinkSync(join(base, "home"), join(base, "h"));
    expect(homeFolder({ HOME: join(base, "h") })).toBe(realpathSync(join(base, "home")));
    expect(homeFolder({ HOME: "/nowhere" })).toBe("/nowhere");
  });
});
