import { closeSync, constants, type Dirent, openSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Fault } from "../contract/problem.ts";
import { isInside } from "../lib/read-guarded.ts";
import type { SourceFolder } from "./load-definitions.ts";

export type FoundFile = {
  /** As the user knows it. */
  path: string;
  /** Folder and name by which it must be opened: through the folder's handle, so that a folder swapped for a symlink leads nowhere. */
  via: string;
  entry: string;
  stem: string;
  /** The path below the folder that was scanned. */
  key: string;
  /** False for what has the right name but is a folder, FIFO, socket or device. */
  readable: boolean;
};

/** `via` is how the folder itself must be opened. */
export type ScannedFolder = { real: string; via: string; files: FoundFile[]; fault: Fault | undefined; close(): void };

const DEEPEST = 8;

/** The definition files of a folder, sorted by path. A folder that is not there has none. Hidden files and symlinked sub-folders are passed over. */
export function scanFolder(source: Pick<SourceFolder, "folder" | "recursive" | "within">, extensions: readonly string[]): ScannedFolder {
  const handles: number[] = [];
  const close = (): void => handles.splice(0).forEach((handle) => closeSync(handle));
  const nothing = (fault?: Fault): ScannedFolder => {
    close();
    return { real: source.folder, via: source.folder, files: [], fault, close };
  };
  try {
    const real = realpathSync.native(source.folder);
    if (source.within !== undefined && !isInside(real, source.within)) return nothing(outside());
    const files: FoundFile[] = [];
    const top = openFolder(real, handles);
    // What was opened is what counts: it may have been swapped after it was resolved.
    if (top.opened !== undefined && source.within !== undefined && !isInside(top.opened, source.within)) return nothing(outside());
    collect({ path: source.folder, via: top.via, key: "", depth: 0 }, { extensions, recursive: source.recursive === true, handles, files });
    files.sort((a, b) => (a.key < b.key ? -1 : 1));
    return { real: top.opened ?? real, via: top.via, files, fault: undefined, close };
  } catch (error) {
    return nothing(isMissing(error) ? undefined : unreadable(error));
  }
}

type Level = { path: string; via: string; key: string; depth: number };
type Collection = { extensions: readonly string[]; recursive: boolean; handles: number[]; files: FoundFile[] };

function collect(level: Level, into: Collection): void {
  for (const entry of readdirSync(level.via, { withFileTypes: true })) {
    const name = entry.name;
    if (name.startsWith(".")) continue;
    const extension = into.extensions.find((e) => name.endsWith(e) && name.length > e.length);
    if (entry.isDirectory() && into.recursive) {
      if (level.depth < DEEPEST) descend(level, name, into);
    } else if (extension !== undefined) {
      // Not `join`: the parts are clean, and this runs for every file.
      into.files.push({ path: `${level.path}/${name}`, via: level.via, entry: name, stem: name.slice(0, -extension.length), key: level.key + name, readable: mayBeFile(entry) });
    }
  }
}

function descend(level: Level, name: string, into: Collection): void {
  try {
    const { via } = openFolder(join(level.via, name), into.handles);
    collect({ path: join(level.path, name), via, key: `${level.key}${name}/`, depth: level.depth + 1 }, into);
  } catch {
    // A sub-folder that vanished, was swapped for a symlink or may not be read holds no definitions.
  }
}

function openFolder(path: string, handles: number[]): { via: string; opened: string | undefined } {
  const handle = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  handles.push(handle);
  if (process.platform !== "linux") return { via: path, opened: undefined };
  try {
    const via = `/proc/self/fd/${handle}`;
    return { via, opened: readlinkSync(via) };
  } catch {
    return { via: path, opened: undefined };
  }
}

function mayBeFile(entry: Dirent): boolean {
  return entry.isFile() || entry.isSymbolicLink();
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

function outside(): Fault {
  return { line: 1, column: 1, field: "", message: "the folder is a symlink that leaves the project", hint: "copy the files into the project instead", severity: "error", code: "file.outside" };
}

function unreadable(error: unknown): Fault {
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  return { line: 1, column: 1, field: "", message: `the folder cannot be read (${code})`, hint: "check its permissions", severity: "error", code: "file.unreadable" };
}
