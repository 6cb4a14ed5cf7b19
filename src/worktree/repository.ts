import { existsSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { CruError } from "../contract/error.ts";
import { git, type GitOptions, type GitPlace, plainGit } from "../lib/git.ts";
import { openQueue, type Queue } from "../lib/queue.ts";
import type { RunResult } from "../lib/subprocess.ts";
import { withLock } from "../lib/with-lock.ts";
import { type GitIdentity, userGit } from "./user-git.ts";

/** A repository that agents can work on, and what it takes to do so without ever discovering it from a folder of theirs. */
export type Repository = {
  /** The main checkout. */
  root: string;
  /** The repository's own folder (`.git` of the main checkout). */
  gitDir: string;
  /** Where worktrees go. */
  worktrees: string;
  objectFormat: "sha1" | "sha256";
  /** Who commits: the user, or our fallback. */
  identity: GitIdentity;
  /** The user's own ignore file. */
  excludesFile: string | undefined;
  /** What works, but not as somebody may expect. */
  warnings: string[];
  /** Runs `job` while no other process of ours changes what the repository knows of worktrees and branches. */
  alone<T>(job: () => Promise<T>): Promise<T>;
  /** Bounds how many checkouts fill the disk at once. */
  checkouts: Queue;
};

export type RepositoryInput = { root: string; gitDir: string | undefined; worktrees: string; env: Record<string, string | undefined> };

/** Throws a `CruError` that says what to do when no worktree can be made from here. */
export async function openRepository(input: RepositoryInput): Promise<Repository> {
  const { root, gitDir, worktrees } = input;
  if (gitDir === undefined) throw await noRepository(root);
  const facts = await git({ gitDir }, ["rev-parse", "--is-bare-repository", "--is-shallow-repository", "--show-object-format"]);
  if (facts.notFound) throw gitMissing();
  if (facts.code !== 0) throw new CruError("unsupported", `git cannot read ${gitDir}: ${firstLine(facts.stderr)}`, { hint: "git status says more" });
  const [bare, shallow, format] = facts.stdout.split("\n");
  if (bare === "true") throw new CruError("unsupported", "a bare repository has no files to work on", { hint: "run cru in a checkout: git clone" });
  const head = await git({ gitDir }, ["rev-parse", "--verify", "-q", "HEAD^{commit}"]);
  if (head.code !== 0) {
    throw new CruError("usage", "this repository has no commit yet, so no worktree can start from it", { hint: "git add -A && git commit -m 'first commit'" });
  }
  const user = await userGit(gitDir, input.env);
  const turn = openQueue({ maxConcurrent: 1 });
  return {
    root,
    gitDir,
    worktrees,
    objectFormat: format === "sha256" ? "sha256" : "sha1",
    identity: user.identity,
    excludesFile: user.excludesFile,
    warnings: warningsOf(root, shallow === "true"),
    // The queue first: waiting for a lock means knocking again and again, so only one of this process should.
    alone: (job) => turn.run("", () => withLock(join(recordsFolder(worktrees), "repository.lock"), "this repository's list of worktrees", job, { waitMs: 120_000 })),
    checkouts: openQueue({ maxConcurrent: Math.max(2, availableParallelism()) }),
  };
}

export function recordsFolder(worktrees: string): string {
  return join(worktrees, ".records");
}

/** How we call git on a worktree: full checkouts and plain index files, whatever the repository is configured for; names in ASCII. */
export function treeGit(repository: Repository, place: Omit<GitPlace, "gitDir"> & { gitDir?: string }, args: readonly string[], options: GitOptions = {}): Promise<RunResult> {
  const excludes = repository.excludesFile === undefined ? [] : [["core.excludesFile", repository.excludesFile] as const];
  return git({ gitDir: repository.gitDir, ...place }, args, {
    identity: repository.identity, maxBytes: LISTS, ...options, settings: [...PLAIN, ...excludes, ...(options.settings ?? [])],
  });
}

const LISTS = 1 << 28;
const PLAIN = [
  ["core.splitIndex", "false"], ["core.untrackedCache", "false"], ["core.sparseCheckout", "false"], ["index.sparse", "false"], ["core.quotePath", "true"], ["color.ui", "false"],
] as const;

/** What git printed, or the failure as an error of this machine. */
export function outputOf(result: RunResult, doing: string): string {
  if (result.code === 0 && !result.truncated) return result.stdout.trim();
  if (result.notFound) throw gitMissing();
  const why = result.timedOut ? "git took too long" : result.truncated ? "git printed too much" : firstLine(result.stderr) || `git ended with ${result.code ?? result.signal ?? "nothing"}`;
  throw new CruError("failed", `${doing}: ${why}`);
}

export function firstLine(text: string): string {
  return text.trim().split("\n").find((line) => !line.startsWith("hint:") && !line.startsWith("warning:"))?.replace(/^(?:fatal|error): /, "").slice(0, 300) ?? "";
}

function gitMissing(): CruError {
  return new CruError("unsupported", "git was not found", { hint: "install git 2.38 or newer" });
}

async function noRepository(root: string): Promise<CruError> {
  if ((await plainGit(["--version"])).notFound) return gitMissing();
  return new CruError("usage", `${root} is not in a git repository`, { hint: "git init && git add -A && git commit -m 'first commit'" });
}

function warningsOf(root: string, shallow: boolean): string[] {
  const attributes = textOf(join(root, ".gitattributes"));
  return [
    ...(shallow ? ["a shallow clone: older history is missing, so some merges cannot be built (git fetch --unshallow)"] : []),
    ...(existsSync(join(root, ".gitmodules")) ? ["submodules are not filled in worktrees, and changes in them are not committed"] : []),
    ...(/\bfilter=lfs\b/.test(attributes) ? ["Git LFS: worktrees hold the pointer files"] : []),
  ];
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
