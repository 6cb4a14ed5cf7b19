import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CruError } from "../contract/error.ts";
import { createFolder } from "../lib/create-file.ts";
import { ignoredFolder } from "../lib/ignored-folder.ts";
import { inertLine } from "../lib/inert.ts";
import { withLock } from "../lib/with-lock.ts";
import { checkoutOf, exists, forget, type Registration, registrationAt } from "./registration.ts";
import { outputOf, recordsFolder, type Repository, treeGit } from "./repository.ts";
import { branchOf, branchRef, readRecord, recordFile, slugOf, type WorktreeRecord, writeRecord } from "./worktree-record.ts";

export type Worktree = {
  bead: string;
  slug: string;
  path: string;
  branch: string;
  /** The commit that the work started from. */
  base: string;
  /** The repository's own folder for this worktree, below `.git/worktrees`. */
  gitDir: string;
};

/**
 * The worktree of a bead, on its branch: made, finished where a crash cut it short, or opened as it is. Calls for the same bead wait for each
 * other; calls for different ones overlap except where git would trip over itself.
 */
export async function createWorktree(input: { bead: string; base?: string }, repository: Repository): Promise<Worktree> {
  const slug = slugOf(input.bead);
  ignoredFolder(repository.root, repository.worktrees);
  createFolder(repository.root, recordsFolder(repository.worktrees));
  return withLock(recordFile(repository, slug, "lock"), `the worktree of ${inertLine(input.bead)}`, async () => {
    const record = await recordFor(input, slug, repository);
    await repository.alone(() => register(slug, record, repository));
    return repository.checkouts.run("", () => checkOut(slug, record, repository));
  });
}

/** An existing worktree, undefined when there is none or it is unfinished. */
export function findWorktree(bead: string, repository: Repository): Worktree | undefined {
  const slug = slugOf(bead);
  const record = readRecord(repository, slug);
  const registration = registrationAt(repository, pathOf(slug, repository));
  if (record === undefined || registration?.isComplete !== true || !exists(join(registration.path, ".git"))) return undefined;
  return worktreeOf(slug, record, registration);
}

export function pathOf(slug: string, repository: Pick<Repository, "worktrees">): string {
  return join(repository.worktrees, slug);
}

export async function tipOf(slug: string, repository: Repository): Promise<string | undefined> {
  const { code, stdout } = await treeGit(repository, {}, ["rev-parse", "--verify", "-q", `${branchRef(slug)}^{commit}`]);
  return code === 0 ? stdout.trim() : undefined;
}

/** Checks the files out where that has not been finished. Until then nobody can have worked there. */
export async function checkOut(slug: string, record: WorktreeRecord, repository: Repository): Promise<Worktree> {
  const path = pathOf(slug, repository);
  const registration = registrationAt(repository, path);
  if (registration === undefined) throw new CruError("failed", `git did not register the worktree ${path}`);
  if (!registration.isComplete) {
    // We hold the worktree's lock: whoever left git's lock is dead.
    rmSync(join(registration.folder, "index.lock"), { force: true });
    outputOf(
      await treeGit(repository, { gitDir: registration.folder, commonDir: repository.gitDir, workTree: path }, ["read-tree", "--reset", "-u", branchRef(slug)], { timeoutMs: 600_000 }),
      `checking out ${branchOf(slug)}`,
    );
  }
  return worktreeOf(slug, record, registration);
}

/** Branch and registration, whichever is missing. Only while alone in the repository. */
export async function register(slug: string, record: WorktreeRecord, repository: Repository): Promise<void> {
  const ref = branchRef(slug);
  const path = pathOf(slug, repository);
  if ((await tipOf(slug, repository)) === undefined) await createBranch(slug, record, repository);
  const known = registrationAt(repository, path);
  if (known !== undefined && exists(join(path, ".git"))) return;
  if (known !== undefined) forget(known);
  const elsewhere = checkoutOf(repository, ref);
  if (elsewhere !== undefined) {
    throw new CruError("failed", `the branch ${record.branch} is checked out in ${elsewhere}`, { hint: "switch that folder to another branch" });
  }
  const aside = setAside(slug, repository);
  outputOf(await treeGit(repository, {}, ["worktree", "add", "-q", "--no-checkout", path, record.branch]), `adding the worktree of ${inertLine(record.bead)}`);
  if (aside !== undefined) await bringBack(slug, aside, repository);
}

async function recordFor(input: { bead: string; base?: string }, slug: string, repository: Repository): Promise<WorktreeRecord> {
  const known = readRecord(repository, slug);
  if (known !== undefined && known.bead !== input.bead) {
    throw new CruError("failed", `the names of the beads '${inertLine(known.bead)}' and '${inertLine(input.bead)}' lead to the same worktree`, { hint: "rename one of them" });
  }
  if (known !== undefined) return known;
  const wanted = input.base ?? "HEAD";
  const resolved = await treeGit(repository, {}, ["rev-parse", "--verify", "-q", "--end-of-options", `${wanted}^{commit}`]);
  if (resolved.code !== 0) throw new CruError("usage", `there is no commit '${inertLine(wanted)}' to start from`, { hint: "worktrees.base names a branch, tag or commit" });
  const tip = await tipOf(slug, repository);
  // A branch of an earlier time goes on; its base is where it left.
  const base = tip === undefined ? resolved.stdout.trim() : outputOf(await treeGit(repository, {}, ["merge-base", resolved.stdout.trim(), tip]), `finding the base of ${branchOf(slug)}`);
  const record: WorktreeRecord = { schema: 1, bead: input.bead, branch: branchOf(slug), base, created_at: new Date().toISOString(), copied: [], setup: null };
  writeRecord(repository, slug, record);
  return record;
}

async function createBranch(slug: string, record: WorktreeRecord, repository: Repository): Promise<void> {
  const made = await treeGit(repository, {}, ["update-ref", "-m", "cru: worktree", branchRef(slug), record.base, "0".repeat(record.base.length)]);
  if (made.code === 0) return;
  const taken = await treeGit(repository, {}, ["rev-parse", "--verify", "-q", "refs/heads/cru"]);
  if (taken.code === 0) throw new CruError("failed", "a branch named 'cru' is in the way: ours are named cru/…", { hint: "rename it: git branch -m cru another-name" });
  outputOf(made, `creating the branch ${record.branch}`);
}

/** Files that no worktree of git's covers: its registration was lost. They are work, so they come back into the new one. */
function setAside(slug: string, repository: Repository): string | undefined {
  const path = pathOf(slug, repository);
  const aside = join(repository.worktrees, `.aside-${slug}`);
  if (exists(path) && readdirSync(path).length > 0) {
    if (lstatSync(join(path, ".git"), { throwIfNoEntry: false })?.isDirectory() === true) {
      throw new CruError("failed", `${path} holds a repository of its own`, { hint: "move it away, then try again" });
    }
    mkdirSync(aside, { recursive: true });
    moveEntries(path, aside);
  }
  return exists(aside) ? aside : undefined;
}

async function bringBack(slug: string, aside: string, repository: Repository): Promise<void> {
  const path = pathOf(slug, repository);
  rmSync(join(aside, ".git"), { force: true });
  moveEntries(aside, path);
  rmSync(aside, { recursive: true });
  const registration = registrationAt(repository, path);
  // An index without a checkout: what differs from the branch is the work that was saved.
  if (registration !== undefined) outputOf(await treeGit(repository, { gitDir: registration.folder, commonDir: repository.gitDir, workTree: path }, ["read-tree", branchRef(slug)]), `mending ${branchOf(slug)}`);
}

function moveEntries(from: string, to: string): void {
  for (const name of readdirSync(from)) {
    if (!exists(join(to, name))) renameSync(join(from, name), join(to, name));
  }
}

function worktreeOf(slug: string, record: WorktreeRecord, registration: Registration): Worktree {
  return { bead: record.bead, slug, path: registration.path, branch: record.branch, base: record.base, gitDir: registration.folder };
}
