import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Check, type Finding, finding, plainEnv } from "./check.ts";

const STALE_MS = 10 * 60_000;
const GIT_LOCKS = ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock"];

/** Locks of cru itself die with their owner. Git's are files, which a killed git leaves behind. */
export const locksCheck: Check = {
  id: "locks",
  look({ paths }) {
    const { gitDir } = paths;
    if (gitDir === undefined) return [];
    const found = GIT_LOCKS.flatMap((name): Finding[] => {
      const age = Date.now() - (statSync(join(gitDir, name), { throwIfNoEntry: false })?.mtimeMs ?? Number.NaN);
      if (Number.isNaN(age)) return [];
      if (age < STALE_MS) return [finding("locks", "info", `git is at work in this repository (${name})`)];
      return [finding("locks", "warn", `git's ${name} is ${Math.floor(age / 60_000)} minutes old: a git that was killed left it behind`, `when no git is at work: rm '${join(gitDir, name)}'`)];
    });
    return found.length > 0 ? found : [finding("locks", "ok", "no lock was left behind")];
  },
};

/** A worktree that git knows and that is gone, or a folder among the worktrees that git does not know. */
export const worktreesCheck: Check = {
  id: "worktrees",
  async look({ paths, env }, deps) {
    if (paths.gitDir === undefined) return [];
    const home = paths.project.worktrees;
    const listed = await deps.run("git", ["-c", "core.fsmonitor=false", "-C", paths.root, "worktree", "list", "--porcelain"], { env: plainEnv(env), cwd: "/", timeoutMs: 10_000 });
    if (listed.code !== 0) return [];
    const known = listed.stdout.split("\n\n").flatMap((block) => {
      const path = /^worktree (.*)$/m.exec(block)?.[1];
      return path?.startsWith(`${home}/`) === true ? [{ path, gone: /^prunable/m.test(block) }] : [];
    });
    const gone = known.filter((w) => w.gone).length;
    const strange = folders(home).filter((name) => known.every((w) => w.path !== join(home, name)));
    const found: Finding[] = [];
    if (gone > 0) found.push(finding("worktrees", "warn", `git still lists ${gone} ${gone === 1 ? "worktree that is" : "worktrees that are"} gone`, "git worktree prune"));
    for (const name of strange) found.push(finding("worktrees", "warn", `.coven/worktrees/${name} is not a worktree of this repository`, "look into it, keep what you need, then delete the folder"));
    return found.length > 0 ? found : [finding("worktrees", "ok", known.length === 0 ? "no worktree is open" : `${known.length} worktrees, all known to git`)];
  },
};

function folders(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map((entry) => entry.name).sort();
  } catch {
    return [];
  }
}
