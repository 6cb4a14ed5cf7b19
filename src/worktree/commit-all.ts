import { CruError } from "../contract/error.ts";
import { inertLine } from "../lib/inert.ts";
import type { Worktree } from "./create-worktree.ts";
import { outputOf, type Repository, treeGit } from "./repository.ts";
import { settleIndex, takeSnapshot } from "./snapshot.ts";
import { branchRef } from "./worktree-record.ts";

export type CommitResult =
  | { status: "committed"; commit: string; left: string[] }
  | { status: "nothing"; commit: string; left: string[] };

/** Commits everything in the folder to its branch, without hooks, signatures or the worktree's own git. `commit` is the branch's tip afterwards. */
export async function commitAll(worktree: Worktree, message: { subject: string; session?: string }, repository: Repository): Promise<CommitResult> {
  const { tip, tree, left } = await takeSnapshot(worktree, repository);
  const before = outputOf(await treeGit(repository, {}, ["rev-parse", "--verify", `${tip}^{tree}`]), `reading ${worktree.branch}`);
  if (before === tree) {
    settleIndex(worktree, repository);
    return { status: "nothing", commit: tip, left };
  }
  const commit = outputOf(await treeGit(repository, {}, ["commit-tree", tree, "-p", tip, "-F", "-"], { input: messageText(worktree, message) }), `committing to ${worktree.branch}`);
  const moved = await treeGit(repository, {}, ["update-ref", "-m", "cru: commit", branchRef(worktree.slug), commit, tip]);
  if (moved.code !== 0) {
    throw new CruError("failed", `${worktree.branch} was moved by somebody else meanwhile; the files are untouched`, { hint: `what was to be committed is in ${commit}` });
  }
  settleIndex(worktree, repository);
  return { status: "committed", commit, left };
}

function messageText(worktree: Worktree, { subject, session }: { subject: string; session?: string }): string {
  const trailers = [`Bead: ${inertLine(worktree.bead)}`, ...(session === undefined ? [] : [`Session: ${inertLine(session)}`])];
  return `${inertLine(subject, 200) || "Work in progress"}\n\n${trailers.join("\n")}\n`;
}
