import { randomBytes } from "node:crypto";
import { copyFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CruError } from "../contract/error.ts";
import { tipOf, type Worktree } from "./create-worktree.ts";
import { exists } from "./registration.ts";
import { firstLine, outputOf, recordsFolder, type Repository, treeGit } from "./repository.ts";
import { readRecord, recordFile } from "./worktree-record.ts";

export type Snapshot = {
  /** The branch's commit. */
  tip: string;
  /** The tree object of everything in the folder that git does not ignore. */
  tree: string;
  /** What no commit can hold: repositories inside the folder, files that cannot be read. */
  left: string[];
};

/**
 * The files of a worktree as a tree, through an index of our own: neither the worktree's `.git` nor its index is looked at, so nothing that was
 * planted there counts. Names stay in git's ASCII quoting all the way, because they may be any bytes.
 */
export async function takeSnapshot(worktree: Worktree, repository: Repository): Promise<Snapshot> {
  const tip = await tipOf(worktree.slug, repository);
  if (tip === undefined) throw new CruError("failed", `the branch ${worktree.branch} is gone`, { hint: `git branch ${worktree.branch} ${worktree.base} brings it back to where the work began` });
  const copied = readRecord(repository, worktree.slug)?.copied ?? [];
  return snapshotFolder({ path: worktree.path, tip, name: worktree.slug, what: worktree.branch, copied }, repository);
}

/** `name` is that of the index that is kept, `what` is for messages, `copied` are files that never count. */
export type SnapshotInput = { path: string; tip: string; name: string; what: string; copied: readonly string[] };

export async function snapshotFolder({ path, tip, name, what, copied }: SnapshotInput, repository: Repository): Promise<Snapshot> {
  const kept = recordFile(repository, name, "index");
  const indexFile = join(recordsFolder(repository.worktrees), `.${name}.${randomBytes(6).toString("hex")}.index`);
  const place = { workTree: path, indexFile };
  const call = async (args: readonly string[], input?: string): Promise<string> =>
    outputOf(await treeGit(repository, place, args, { timeoutMs: 600_000, ...(input === undefined ? {} : { input }) }), `reading the files of ${what}`);
  try {
    // What git knows of unchanged files from the last time saves reading them again.
    if (exists(kept)) copyFileSync(kept, indexFile);
    if ((await treeGit(repository, place, ["read-tree", "-m", tip])).code !== 0) {
      rmSync(indexFile, { force: true });
      await call(["read-tree", tip]);
    }
    // With a gitlink in the index git would ask the nested repository, whose configuration runs programs.
    const links = gitlinks(await call(["ls-files", "-s"]));
    if (links.length > 0) await call(["update-index", "--index-info"], links.map(({ path }) => `0 ${"0".repeat(tip.length)}\t${path}\n`).join(""));
    const nested = lines(await call(["ls-files", "--others", "--exclude-standard"])).filter((path) => /\/"?$/.test(path));
    const added = await treeGit(repository, place, ["add", "-A", "--ignore-errors", "--pathspec-from-file=-"], {
      input: [":/", ...nested.map(excluding), ...copied.map((file) => excluding(JSON.stringify(file)))].join("\n"),
      timeoutMs: 600_000,
    });
    const left = nested.map((path) => `${unquoted(path)} (a repository of its own)`);
    if (added.code === 1) left.push(firstLine(added.stderr));
    else outputOf(added, `reading the files of ${what}`);
    if (links.length > 0) await restoreLinks(links, call);
    const tree = await call(["write-tree"]);
    renameSync(indexFile, kept);
    return { tip, tree, left };
  } finally {
    rmSync(indexFile, { force: true });
    rmSync(`${indexFile}.lock`, { force: true });
  }
}

/** The worktree's own index becomes ours, so that `git status` there shows the truth. A rename replaces whatever stands there, also a link. */
export function settleIndex(worktree: Worktree, repository: Repository): void {
  const kept = recordFile(repository, worktree.slug, "index");
  const temporary = join(worktree.gitDir, `index.${randomBytes(6).toString("hex")}`);
  copyFileSync(kept, temporary);
  renameSync(temporary, join(worktree.gitDir, "index"));
}

type Link = { entry: string; path: string };

function gitlinks(staged: string): Link[] {
  return lines(staged).flatMap((line) => {
    const [, id, path] = /^160000 ([0-9a-f]+) 0\t(.*)$/.exec(line) ?? [];
    return id === undefined || path === undefined ? [] : [{ entry: `160000 ${id}\t${path}\n`, path }];
  });
}

/** Submodules stay what they are on the branch, except where files took their place. */
async function restoreLinks(links: readonly Link[], call: (args: readonly string[], input?: string) => Promise<string>): Promise<void> {
  const files = lines(await call(["ls-files"])).map(bare);
  const free = links.filter(({ path }) => !files.some((file) => file === bare(path) || file.startsWith(`${bare(path)}/`)));
  if (free.length > 0) await call(["update-index", "--index-info"], free.map((link) => link.entry).join(""));
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

function bare(path: string): string {
  return path.startsWith('"') ? path.slice(1, -1) : path;
}

function excluding(path: string): string {
  const magic = ":(top,exclude,literal)";
  return path.startsWith('"') ? `"${magic}${bare(path)}"` : `${magic}${path}`;
}

/** For people to read; bytes that are no text become marks. */
function unquoted(path: string): string {
  if (!path.startsWith('"')) return path;
  const bytes = bare(path).replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))).replace(/\\(.)/g, "$1");
  return Buffer.from(bytes, "latin1").toString("utf8");
}
