import { findWorktree, tipOf, type Worktree } from "./create-worktree.ts";
import { removeWorktree } from "./remove-worktree.ts";
import { outputOf, type Repository, treeGit } from "./repository.ts";
import { branchRef, removeRecord } from "./worktree-record.ts";

/** The worktree of a bead when nothing on its branch is missing in HEAD: everything was taken over, or there was nothing. */
export async function mergedWorktree(bead: string, repository: Repository): Promise<Worktree | undefined> {
  const worktree = findWorktree(bead, repository);
  const tip = worktree === undefined ? undefined : await tipOf(worktree.slug, repository);
  if (worktree === undefined || tip === undefined) return undefined;
  return (await isInHead(tip, repository)) ? worktree : undefined;
}

/** Folder and branch go. Throws, and removes nothing, when there is work that HEAD does not have. */
export async function removeMerged(worktree: Worktree, repository: Repository): Promise<void> {
  const { tip, branch } = await removeWorktree(worktree, { uncommitted: "refuse" }, repository);
  if (branch === "deleted" || !(await isInHead(tip, repository))) return;
  outputOf(await treeGit(repository, {}, ["update-ref", "-d", branchRef(worktree.slug), tip]), "deleting a merged branch");
  removeRecord(repository, worktree.slug);
}

async function isInHead(commit: string, repository: Repository): Promise<boolean> {
  return (await treeGit(repository, {}, ["merge-base", "--is-ancestor", commit, "HEAD"])).code === 0;
}
