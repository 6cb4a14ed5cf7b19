import { createFolder } from "../lib/create-file.ts";
import { ignoredFolder } from "../lib/ignored-folder.ts";
import { type Changes, treeChanges } from "./changes.ts";
import { outputOf, recordsFolder, type Repository, treeGit } from "./repository.ts";
import { snapshotFolder } from "./snapshot.ts";

/** What we write there ourselves is nobody's change. */
const OURS = [".beads", ".crucible", ".coven"];

/** The files of the main checkout as they are now, as a tree object. Nothing of the checkout, its index or its refs is touched. */
export async function checkoutTree(repository: Repository): Promise<string> {
  ignoredFolder(repository.root, repository.worktrees);
  createFolder(repository.root, recordsFolder(repository.worktrees));
  const tip = outputOf(await treeGit(repository, {}, ["rev-parse", "--verify", "HEAD^{commit}"]), "reading HEAD");
  const { tree } = await snapshotFolder({ path: repository.root, tip, name: ".checkout", what: "the checkout", copied: OURS }, repository);
  return tree;
}

/** What is different in the main checkout since `before` was taken. */
export async function checkoutChanges(before: string, repository: Repository, options: { maxBytes?: number } = {}): Promise<Omit<Changes, "left">> {
  return treeChanges(before, await checkoutTree(repository), repository, options);
}
