import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Paths } from "../config/paths.ts";
import { sha256 } from "../lib/sha256.ts";
import { isInside, nameInProject, trustedPlaces } from "./places.ts";

export type ScannedFile = { name: string; content: Uint8Array; sha256: string };
/** `refused` can never be trusted; `reason` says why. */
export type Scan = { files: ScannedFile[]; refused: { name: string; reason: string }[] };
type Growing = Scan & { bytes: number };

export const LARGEST_FILE = 1024 * 1024;
const MOST_FILES = 20_000;
/** All of them are held at once, to be shown and kept exactly as they were hashed. */
const MOST_BYTES = 64 * 1024 * 1024;
const DEEPEST = 16;

/** Every file of a project that trust is about, with the bytes that were hashed. Links are followed as a loader would, as long as they stay in the project. */
export function scanProject(paths: Paths): Scan {
  const scan: Growing = { files: [], refused: [], bytes: 0 };
  const { folders, files } = trustedPlaces(paths);
  for (const folder of folders) walk(folder, paths, scan, []);
  for (const file of files) if (exists(file)) take(file, paths, scan);
  return { files: scan.files.sort((a, b) => (a.name < b.name ? -1 : 1)), refused: scan.refused };
}

function walk(folder: string, paths: Paths, scan: Growing, trail: readonly string[]): void {
  if (!exists(folder)) return;
  const name = nameInProject(folder, paths.root) ?? folder;
  const refuse = (reason: string): void => void scan.refused.push({ name, reason });
  const real = realPath(folder);
  if (real === undefined) return refuse("a link to nothing");
  if (!isInside(real, paths.root)) return refuse("a link that leaves the project");
  if (trail.includes(real)) return refuse("a link to a folder above it");
  if (trail.length >= DEEPEST) return refuse(`more than ${DEEPEST} folders deep`);
  let entries: string[];
  try {
    entries = readdirSync(real).sort();
  } catch {
    return refuse("cannot be read");
  }
  for (const entry of entries) {
    const path = join(folder, entry);
    if (isFolder(path)) walk(path, paths, scan, [...trail, real]);
    else take(path, paths, scan);
  }
}

function take(path: string, paths: Paths, scan: Growing): void {
  const name = nameInProject(path, paths.root) ?? path;
  const read = scan.files.length >= MOST_FILES ? `more than ${MOST_FILES} files` : readInProject(path, paths.root);
  if (typeof read === "string") scan.refused.push({ name, reason: read });
  else if (scan.bytes + read.length > MOST_BYTES) scan.refused.push({ name, reason: `more than ${MOST_BYTES / 1024 / 1024} MB of definitions` });
  else {
    scan.bytes += read.length;
    scan.files.push({ name, content: read, sha256: sha256(read) });
  }
}

/** The bytes, or why not. Opened without blocking, so that a pipe cannot hang it, and checked on the open file, so that it cannot be swapped. */
export function readInProject(path: string, root: string): Uint8Array | string {
  const real = realPath(path);
  if (real === undefined) return "a link to nothing";
  if (!isInside(real, root)) return "a link that leaves the project";
  let file: number;
  try {
    file = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return "cannot be read";
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return "not a file";
    if (stat.size > LARGEST_FILE) return `larger than ${LARGEST_FILE / 1024 / 1024} MB`;
    return readAll(file, stat.size) ?? "changed while it was read";
  } catch {
    return "cannot be read";
  } finally {
    closeSync(file);
  }
}

function readAll(file: number, size: number): Uint8Array | undefined {
  // One byte more than there should be shows a file that grew.
  const buffer = Buffer.alloc(size + 1);
  let length = 0;
  for (let read = -1; read !== 0 && length < buffer.length; length += read) read = readSync(file, buffer, length, buffer.length - length, null);
  return length === size ? buffer.subarray(0, size) : undefined;
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function isFolder(path: string): boolean {
  const real = realPath(path);
  return real !== undefined && lstatSync(real, { throwIfNoEntry: false })?.isDirectory() === true;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
