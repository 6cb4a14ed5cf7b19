import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { CruError } from "../../contract/error.ts";
import { listOrphans, mend, type Orphan } from "../../worktree/orphans.ts";
import { mergedWorktree, removeMerged } from "../../worktree/merged.ts";
import { openRepository, type Repository, type RepositoryInput } from "../../worktree/repository.ts";
import { openBeads } from "../beads.ts";
import { UNMERGED } from "../task/task-bead.ts";
import { type Check, type DoctorInput, type Finding, finding } from "./check.ts";

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

/** What a crash, or somebody's hand, left half done among the worktrees. `--fix` finishes it or clears it away; work is never removed. */
export const worktreesCheck: Check = {
  id: "worktrees",
  async look({ paths, env, fix }) {
    const repository = await usable({ root: paths.root, gitDir: paths.gitDir, worktrees: paths.project.worktrees, env });
    if (repository === undefined) return [];
    const mended = fix ? await mend(repository) : [];
    const found = [
      ...mended.filter(({ done }) => done !== "kept").map(({ orphan, done }) => finding("worktrees", "info", `${WHAT[orphan.kind](orphan.what)}: ${done === "busy" ? "somebody is at it right now" : done}`)),
      ...(await listOrphans(repository)).map((orphan) => finding("worktrees", "warn", WHAT[orphan.kind](orphan.what), fix ? KEPT : "cru doctor --fix")),
    ];
    found.push(...(await finished(repository, { paths, fix })));
    const open = folders(paths.project.worktrees).length;
    return found.length > 0 ? found : [finding("worktrees", "ok", open === 0 ? "no worktree is open" : `${open} ${open === 1 ? "worktree" : "worktrees"}, all known to git`)];
  },
};

/** Worktrees of closed beads whose work is in HEAD by now. */
async function finished(repository: Repository, { paths, fix }: Pick<DoctorInput, "paths" | "fix">): Promise<Finding[]> {
  const store = openBeads(paths);
  const closed = (await store.list()).items.filter((bead) => bead.status === "closed" && bead.labels.includes(UNMERGED));
  const found: Finding[] = [];
  for (const bead of closed) {
    const worktree = await mergedWorktree(bead.id, repository);
    if (worktree === undefined) continue;
    const what = `${bead.id} is done and nothing on ${worktree.branch} is missing here`;
    if (!fix) found.push(finding("worktrees", "info", `${what}; its worktree can go`, "cru doctor --fix"));
    else found.push(await tidied(what, async () => {
      await removeMerged(worktree, repository);
      await store.update(bead.id, { removeLabels: [UNMERGED] });
    }));
  }
  return found;
}

async function tidied(what: string, remove: () => Promise<void>): Promise<Finding> {
  try {
    await remove();
    return finding("worktrees", "info", `${what}: its worktree and branch were removed`);
  } catch (error) {
    if (!(error instanceof CruError)) throw error;
    return finding("worktrees", "warn", `${what}, but ${error.message}`, error.hint ?? null);
  }
}

const KEPT = "it may hold work, so it is kept: look into it, take what you need, then delete it";

const WHAT: Record<Orphan["kind"], (what: string) => string> = {
  unfinished: (what) => `.coven/worktrees/${what} was cut short while it was made`,
  empty_branch: (what) => `branch ${what} has no worktree and nothing on it`,
  folder_gone: (what) => `git lists the worktree .coven/worktrees/${what}, whose folder is gone`,
  unregistered_folder: (what) => `.coven/worktrees/${what} is not a worktree that git knows`,
  leftover: (what) => `.coven/worktrees/${what} was left behind by a removal`,
};

/** Undefined where no worktree can be made; the check of the repository says why. */
async function usable(input: RepositoryInput): Promise<Repository | undefined> {
  try {
    return await openRepository(input);
  } catch (error) {
    if (error instanceof CruError) return undefined;
    throw error;
  }
}

function folders(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory() && !entry.name.startsWith(".")).map((entry) => entry.name);
  } catch {
    return [];
  }
}
