import type { Worktree } from "./create-worktree.ts";
import { outputOf, type Repository, treeGit } from "./repository.ts";
import { takeSnapshot } from "./snapshot.ts";

export type ChangedFile = {
  path: string;
  status: "added" | "modified" | "deleted" | "renamed";
  /** Where a renamed file was. */
  from?: string;
  /** Lines; left out for files that are no text. */
  added?: number;
  deleted?: number;
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
  return { ...(await treeChanges(options.against ?? worktree.base, tree, repository, options)), left };
}

export async function treeChanges(before: string, after: string, repository: Repository, options: { maxBytes?: number } = {}): Promise<Omit<Changes, "left">> {
  const compare = (how: readonly string[], maxBytes?: number): ReturnType<typeof treeGit> =>
    treeGit(repository, {}, ["diff-tree", "-r", "-M", ...how, before, after], maxBytes === undefined ? {} : { maxBytes, keep: "ends" });
  const named = outputOf(await compare(["--name-status", "-z"]), "comparing with the base");
  const counts = parseCounts(outputOf(await compare(["--numstat", "-z"]), "comparing with the base"));
  const diff = await compare(["-p", "--no-color", "--src-prefix=a/", "--dst-prefix=b/"], options.maxBytes ?? 1 << 22);
  if (!diff.truncated) outputOf(diff, "comparing with the base");
  return { files: parseNames(named).map((file) => ({ ...file, ...counts.get(file.path) })), diff: diff.stdout, truncated: diff.truncated };
}

/** Of a renamed file both names follow as fields of their own. */
function parseCounts(text: string): Map<string, { added: number; deleted: number }> {
  const fields = text.split("\0");
  const counts = new Map<string, { added: number; deleted: number }>();
  for (let i = 0; i < fields.length; i++) {
    const [, added = "-", deleted = "-", name = ""] = /^(\d+|-)\t(\d+|-)\t([\s\S]*)$/.exec(fields[i] ?? "") ?? [];
    const path = name === "" ? (fields[(i += 2)] ?? "") : name;
    if (added !== "-") counts.set(path, { added: Number(added), deleted: Number(deleted) });
  }
  return counts;
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
