import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { randomName } from "./sha256.ts";

/** Replaces a whole file: readers see the old or the new content, never a mixture, also after power loss (unless `sync` is false). Symlinks at `path` are replaced, not followed. */
export function atomicWrite(path: string, content: string | Uint8Array, options: { mode?: number; folderMode?: number; sync?: boolean } = {}): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: options.folderMode ?? 0o777 });
  const temporary = join(folder, `.${basename(path).slice(0, 100)}.${randomName()}.tmp`);
  const file = openSync(temporary, "wx", options.mode ?? 0o666);
  try {
    writeAll(file, typeof content === "string" ? Buffer.from(content) : content);
    if (options.sync !== false) fsyncSync(file);
    closeSync(file);
  } catch (error) {
    closeSync(file);
    rmSync(temporary, { force: true });
    throw error;
  }
  try {
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (options.sync !== false) syncFolder(folder);
}

export function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
