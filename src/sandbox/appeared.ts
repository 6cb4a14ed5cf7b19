import { cpSync, lstatSync, mkdirSync, mkdtempSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PROTECTED_NAMES } from "../lib/protected-path.ts";

/** A protected name that a command made (or made into something else), and where it was moved. */
export type Appeared = { name: string; movedTo: string };

export type ProtectedState = ReadonlyMap<string, string>;

export function protectedState(workspace: string): ProtectedState {
  return new Map(PROTECTED_NAMES.map((name) => [name, identity(join(workspace, name))]));
}

/** What configures agents and git must not come from a command: whatever was not there before leaves the workspace. */
export function moveAppeared(workspace: string, before: ProtectedState, options: { allowed: readonly string[]; folder: string | undefined }): Appeared[] {
  const names = PROTECTED_NAMES.filter((name) => {
    const now = identity(join(workspace, name));
    return now !== "" && now !== before.get(name) && !options.allowed.includes(name);
  });
  if (names.length === 0) return [];
  const folder = asideFolder(options.folder);
  return names.map((name) => {
    const movedTo = join(folder, name);
    movePath(join(workspace, name), movedTo);
    return { name, movedTo };
  });
}

function identity(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return "";
  return stat.isSymbolicLink() ? `link ${readlinkSync(path)}` : `${stat.isDirectory() ? "folder" : "file"} ${stat.dev} ${stat.ino}`;
}

function asideFolder(parent: string | undefined): string {
  if (parent !== undefined) mkdirSync(parent, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(parent ?? tmpdir(), "appeared-"));
}

/** Also between file systems. */
export function movePath(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false });
    rmSync(from, { recursive: true, force: true });
  }
}
