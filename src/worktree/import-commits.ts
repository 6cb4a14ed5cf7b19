import { copyFileSync, existsSync, lstatSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { git, plainGit } from "../lib/git.ts";
import type { RunResult } from "../lib/subprocess.ts";
import type { Worktree } from "./create-worktree.ts";
import { firstLine, outputOf, type Repository, treeGit } from "./repository.ts";
import { branchRef } from "./worktree-record.ts";

/** Runs a command in the agent's sandbox, with the same binds that the agent had. */
export type RunInside = (command: readonly string[], options: { timeoutMs: number }) => Promise<Pick<RunResult, "code" | "stderr" | "timedOut">>;

export type ImportResult =
  | { status: "none" }
  | { status: "imported"; commit: string }
  /** The branch no longer holds what it started from: it stays where it was, and what the agent made of it is kept under `ref`. */
  | { status: "rewritten"; commit: string; ref: string }
  | { status: "refused"; reason: string };

export type ImportInput = { worktree: Worktree; base: string; folder: string; maxBytes?: number };

const MOST_BYTES = 1 << 30;
const BUNDLE = "crucible-import.bundle";
const [GONE, NOTHING_NEW] = [93, 94];

/**
 * Takes commits out of a private folder that an agent could write. Its git, with all that was planted there, runs in the sandbox only and writes a
 * bundle; outside, the bundle is read like one from the network: checked object by object, then compared with where the branch was.
 */
export async function importCommits(input: ImportInput, deps: { runInside: RunInside; repository: Repository }): Promise<ImportResult> {
  const { worktree, base, folder } = input;
  const { repository } = deps;
  const most = input.maxBytes ?? MOST_BYTES;
  const ref = branchRef(worktree.slug);
  const made = await deps.runInside(["/bin/sh", "-c", MAKE_BUNDLE, "sh", ref, base, join(repository.gitDir, BUNDLE), String(Math.ceil(most / 512) + 1)], { timeoutMs: 120_000 });
  if (made.code === NOTHING_NEW) return { status: "none" };
  if (made.code === GONE) return { status: "refused", reason: `the agent deleted ${worktree.branch} in its copy` };
  const bundle = join(folder, BUNDLE);
  const stat = lstatSync(bundle, { throwIfNoEntry: false });
  if (stat !== undefined && stat.size > most) return { status: "refused", reason: `the new commits are larger than ${Math.floor(most / (1 << 20))} MiB` };
  if (made.code !== 0 || stat?.isFile() !== true) {
    return { status: "refused", reason: made.timedOut ? "reading the agent's commits took too long" : `the agent's copy of the repository cannot be read: ${firstLine(made.stderr)}` };
  }
  return takeOver(bundle, input, repository);
}

/** The limit holds for whatever runs in there: it cannot be raised again. */
const MAKE_BUNDLE = `ulimit -f "$4"; tip=$(git rev-parse --verify -q "$1^{commit}") || exit ${GONE}
[ "$tip" = "$2" ] && exit ${NOTHING_NEW}
git merge-base --is-ancestor "$tip" "$2" && exit ${NOTHING_NEW}
rm -rf "$3"; exec git bundle create -q - "^$2" "$1" > "$3"`;

async function takeOver(bundle: string, { worktree, base, folder }: ImportInput, repository: Repository): Promise<ImportResult> {
  const ref = branchRef(worktree.slug);
  const incoming = `refs/crucible/incoming/${worktree.slug}`;
  const quarantine = join(dirname(folder), "quarantine");
  try {
    const unsound = (await unpack(bundle, ref, quarantine, repository)) ?? (await fetchChecked(quarantine, `+${ref}:${incoming}`, repository));
    if (unsound !== undefined) return { status: "refused", reason: `the new commits are not sound: ${unsound}` };
    const commit = outputOf(await treeGit(repository, {}, ["rev-parse", "--verify", `${incoming}^{commit}`]), "reading the new commits");
    if ((await treeGit(repository, {}, ["merge-base", "--is-ancestor", base, commit])).code === 0) {
      const moved = await treeGit(repository, {}, ["update-ref", "-m", "cru: import", ref, commit, base]);
      if (moved.code === 0) return { status: "imported", commit };
    }
    const side = `refs/crucible/side/${worktree.slug}/${commit.slice(0, 12)}`;
    outputOf(await treeGit(repository, {}, ["update-ref", "-m", "cru: kept aside", side, commit]), "keeping the agent's commits");
    return { status: "rewritten", commit, ref: side };
  } finally {
    rmSync(quarantine, { recursive: true, force: true });
    await treeGit(repository, {}, ["update-ref", "-d", incoming]);
  }
}

const FETCH = ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc"];

/**
 * Git (2.39 at least) does not check the objects of a bundle, whatever `fetch.fsckObjects` says, only those that come from a repository. So the bundle
 * goes into an empty one first, which borrows the real objects, and only what passes the check comes from there into the real one.
 */
async function unpack(bundle: string, ref: string, quarantine: string, repository: Repository): Promise<string | undefined> {
  rmSync(quarantine, { recursive: true, force: true });
  outputOf(await plainGit(["init", "-q", "--bare", "--template=", `--object-format=${repository.objectFormat}`, quarantine]), "making room for new commits");
  mkdirSync(join(quarantine, "objects", "info"), { recursive: true });
  writeFileSync(join(quarantine, "objects", "info", "alternates"), `${join(repository.gitDir, "objects")}\n`);
  if (existsSync(join(repository.gitDir, "shallow"))) copyFileSync(join(repository.gitDir, "shallow"), join(quarantine, "shallow"));
  const unpacked = await git({ gitDir: quarantine }, [...FETCH, bundle, `+${ref}:${ref}`], { timeoutMs: 600_000 });
  return unpacked.code === 0 ? undefined : firstLine(unpacked.stderr);
}

async function fetchChecked(from: string, refspec: string, repository: Repository): Promise<string | undefined> {
  const fetched = await treeGit(repository, {}, [...FETCH, from, refspec], {
    settings: [["fetch.fsckObjects", "true"], ["transfer.fsckObjects", "true"], ["protocol.allow", "never"], ["protocol.file.allow", "always"]],
    timeoutMs: 600_000,
  });
  return fetched.code === 0 ? undefined : firstLine(fetched.stderr);
}
