import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CruError } from "../contract/error.ts";
import { acquireLock } from "../lib/lock.ts";
import { checkOut, pathOf, register, tipOf } from "./create-worktree.ts";
import { exists, forget, registrationAt, registrations } from "./registration.ts";
import { dropEmptyBranch } from "./remove-worktree.ts";
import { outputOf, recordsFolder, type Repository, treeGit } from "./repository.ts";
import { branchOf, readRecord, recordFile } from "./worktree-record.ts";

/** What a crash, or somebody's hand, left half done. A branch with commits and no folder is kept work, not an orphan. */
export type Orphan = {
  slug: string;
  kind: "unfinished" | "empty_branch" | "folder_gone" | "unregistered_folder" | "leftover";
  /** Below the worktrees' folder, or a branch. */
  what: string;
};

export type Mended = { orphan: Orphan; done: "finished" | "removed" | "kept" | "busy" };

export async function listOrphans(repository: Repository): Promise<Orphan[]> {
  const slugs = new Set([...recordSlugs(repository), ...folderSlugs(repository), ...registrations(repository).flatMap((r) => slugAt(r.path, repository)), ...(await branchSlugs(repository))]);
  const found: Orphan[] = [];
  for (const slug of [...slugs].sort()) {
    const orphan = await orphanOf(slug, repository);
    if (orphan !== undefined) found.push(orphan);
  }
  return [...found, ...leftovers(repository)];
}

/** Finishes or clears away each one; work is never removed. Whatever is being made or removed right now is left alone. */
export async function mend(repository: Repository): Promise<Mended[]> {
  const mended: Mended[] = [];
  for (const orphan of await listOrphans(repository)) mended.push({ orphan, done: await mendOne(orphan, repository) });
  return mended;
}

async function mendOne(orphan: Orphan, repository: Repository): Promise<Mended["done"]> {
  const lock = await lockIfFree(orphan.slug, repository);
  if (lock === undefined) return "busy";
  try {
    // It may have been finished between the list and the lock.
    if (orphan.kind !== "leftover" && (await orphanOf(orphan.slug, repository))?.kind !== orphan.kind) return "finished";
    return await repair(orphan, repository);
  } finally {
    lock.release();
  }
}

async function repair(orphan: Orphan, repository: Repository): Promise<Mended["done"]> {
  const { slug, kind } = orphan;
  const record = readRecord(repository, slug);
  const known = registrationAt(repository, pathOf(slug, repository));
  switch (kind) {
    case "leftover":
      rmSync(join(repository.worktrees, orphan.what), { recursive: true, force: true });
      return "removed";
    case "unfinished":
    case "unregistered_folder":
      if (record === undefined) return "kept";
      await repository.alone(() => register(slug, record, repository));
      await checkOut(slug, record, repository);
      return "finished";
    case "folder_gone":
    case "empty_branch":
      if (known?.isLocked === true) return "kept";
      await repository.alone(async () => {
        if (known !== undefined) forget(known);
        const base = record?.base ?? (await commonBase(slug, repository));
        if (base !== undefined) await dropEmptyBranch(slug, base, repository);
      });
      return "removed";
  }
}

async function orphanOf(slug: string, repository: Repository): Promise<Orphan | undefined> {
  const path = pathOf(slug, repository);
  const registration = registrationAt(repository, path);
  const folder = exists(path);
  if (registration !== undefined && !folder) return { slug, kind: "folder_gone", what: slug };
  if (registration !== undefined) return registration.isComplete && exists(join(path, ".git")) ? undefined : { slug, kind: "unfinished", what: slug };
  if (folder || exists(join(repository.worktrees, `.aside-${slug}`))) return { slug, kind: "unregistered_folder", what: slug };
  const record = readRecord(repository, slug);
  const tip = await tipOf(slug, repository);
  const base = record?.base ?? (tip === undefined ? undefined : await commonBase(slug, repository));
  if (tip === undefined ? record !== undefined : tip === base) return { slug, kind: "empty_branch", what: branchOf(slug) };
  return undefined;
}

/** Of a branch without a record: nothing is beyond its base when HEAD holds it. */
async function commonBase(slug: string, repository: Repository): Promise<string | undefined> {
  const found = await treeGit(repository, {}, ["merge-base", "HEAD", `refs/heads/${branchOf(slug)}`]);
  return found.code === 0 ? found.stdout.trim() : undefined;
}

function recordSlugs(repository: Repository): string[] {
  return entries(recordsFolder(repository.worktrees)).flatMap((name) => (/^[^.].*\.json$/.test(name) ? [name.slice(0, -".json".length)] : []));
}

function folderSlugs(repository: Repository): string[] {
  return entries(repository.worktrees).flatMap((name) => (name.startsWith(".aside-") ? [name.slice(".aside-".length)] : name.startsWith(".") ? [] : [name]));
}

async function branchSlugs(repository: Repository): Promise<string[]> {
  const listed = outputOf(await treeGit(repository, {}, ["for-each-ref", "--format=%(refname)", "refs/heads/cru/"]), "listing branches");
  return listed.split("\n").filter((ref) => ref !== "").map((ref) => ref.slice("refs/heads/cru/".length)).filter((slug) => !slug.includes("/"));
}

function slugAt(path: string, repository: Repository): string[] {
  const prefix = `${repository.worktrees}/`;
  return path.startsWith(prefix) && !path.slice(prefix.length).includes("/") ? [path.slice(prefix.length)] : [];
}

/** Of removals that were cut short; what is in them was committed before. */
function leftovers(repository: Repository): Orphan[] {
  return entries(repository.worktrees).flatMap((name): Orphan[] => {
    const slug = /^\.removed-(.+)-[0-9a-f]{8}$/.exec(name)?.[1];
    return slug === undefined ? [] : [{ slug, kind: "leftover", what: name }];
  });
}

async function lockIfFree(slug: string, repository: Repository): Promise<{ release(): void } | undefined> {
  try {
    return await acquireLock(recordFile(repository, slug, "lock"), "a worktree");
  } catch (error) {
    if (error instanceof CruError && error.code === "locked") return undefined;
    throw error;
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

