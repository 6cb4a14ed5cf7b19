import type { Worktree } from "./create-worktree.ts";
import { outputOf, type Repository, treeGit } from "./repository.ts";
import { takeSnapshot } from "./snapshot.ts";

export type ChangedFile = {
  path: string;
  status: "added" | "modified" | "deleted" | "renamed";
  /** Where a renamed file was. */
  from?: string;
};

export type Changes = {
  /** Committed or not, against the base. */
  files: ChangedFile[];
  diff: string;
  /** The diff was cut at `maxBytes`. */
  truncated: boolean;
  /** What cannot be committed, see `Snapshot`. */
  left: string[];
};

/** Everything that is different from the base: commits, uncommitted and new files. Compares trees, so nothing in the folder can run or mislead. */
export async function changesOf(worktree: Worktree, repository: Repository, options: { maxBytes?: number; against?: string } = {}): Promise<Changes> {
  const { tree, left } = await takeSnapshot(worktree, repository);
  const base = options.against ?? worktree.base;
  const named = outputOf(await treeGit(repository, {}, ["diff-tree", "-r", "-M", "--name-status", "-z", base, tree]), "comparing with the base");
  const diff = await treeGit(repository, {}, ["diff-tree", "-r", "-M", "-p", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", base, tree], { maxBytes: options.maxBytes ?? 1 << 22, keep: "ends" });
  if (!diff.truncated) outputOf(diff, "comparing with the base");
  return { files: parseNames(named), diff: diff.stdout, truncated: diff.truncated, left };
}

const STATUSES: Record<string, ChangedFile["status"]> = { A: "added", D: "deleted", R: "renamed", C: "added" };

function parseNames(text: string): ChangedFile[] {
  const fields = text.split("\0");
  const files: ChangedFile[] = [];
  for (let i = 0; i + 1 < fields.length; ) {
    const letter = (fields[i] ?? "").slice(0, 1);
    const two = letter === "R" || letter === "C";
    const [from, path] = two ? [fields[i + 1], fields[i + 2]] : [undefined, fields[i + 1]];
    files.push({ path: path ?? "", status: STATUSES[letter] ?? "modified", ...(letter === "R" && from !== undefined ? { from } : {}) });
    i += two ? 3 : 2;
  }
  return files;
}
