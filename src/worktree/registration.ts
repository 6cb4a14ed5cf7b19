import { lstatSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Repository } from "./repository.ts";

/** What the repository knows of a linked worktree: a folder below `.git/worktrees`. Read from there only; a worktree's own `.git` may be anybody's. */
export type Registration = {
  folder: string;
  /** Where the worktree is, or was. */
  path: string;
  /** The ref that is checked out there, undefined when its HEAD is detached. */
  ref: string | undefined;
  /** The checkout was finished: git writes the index last. */
  isComplete: boolean;
  isLocked: boolean;
};

export function registrations(repository: Pick<Repository, "gitDir">): Registration[] {
  const parent = join(repository.gitDir, "worktrees");
  return names(parent).flatMap((name) => {
    const folder = join(parent, name);
    const back = textOf(join(folder, "gitdir"));
    if (back === undefined || lstatSync(folder).isSymbolicLink()) return [];
    return [{ folder, path: dirname(resolve(folder, back)), ref: refOf(join(folder, "HEAD")), isComplete: exists(join(folder, "index")), isLocked: exists(join(folder, "locked")) }];
  });
}

export function registrationAt(repository: Pick<Repository, "gitDir">, path: string): Registration | undefined {
  return registrations(repository).find((r) => r.path === path);
}

/** Where a branch is checked out, the main checkout included. */
export function checkoutOf(repository: Pick<Repository, "gitDir" | "root">, ref: string): string | undefined {
  if (refOf(join(repository.gitDir, "HEAD")) === ref) return repository.root;
  return registrations(repository).find((r) => r.ref === ref)?.path;
}

/** What `git worktree prune` would do, for this one only. */
export function forget(registration: Registration): void {
  rmSync(registration.folder, { recursive: true, force: true });
}

export function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function refOf(headFile: string): string | undefined {
  return /^ref: (.+)$/.exec(textOf(headFile) ?? "")?.[1];
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}
