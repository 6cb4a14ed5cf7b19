import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Fault } from "../contract/problem.ts";
import { checksum } from "../lib/checksum.ts";
import { randomName } from "../lib/sha256.ts";

/** What a content means, without its body and without its path. `digest` is the sha-256 of its bytes. */
export type IndexRecord<T> = { digest: string; name?: string | undefined; value?: T | undefined; faults: Fault[] };

/** The files of one folder, sorted by key: `records` and `signatures` (a fixed number of them each) stand in the order of `keys`. */
export type FolderIndex<T> = { folder: string; dialect: string; keys: string[]; signatures: number[]; records: IndexRecord<T>[] };

const SCHEMA = 4;
const SUM_LENGTH = 16;

/**
 * The index of a catalog. It is a cache in the user's own folder, never in the project, where a clone could bring its own.
 * Whatever is wrong with it, it is ignored: the files are parsed again.
 */
export function readIndex<T>(path: string | undefined, fingerprint: string): FolderIndex<T>[] {
  if (path === undefined) return [];
  try {
    const bytes = readFileSync(path);
    const body = bytes.subarray(SUM_LENGTH);
    if (checksum(body) !== bytes.toString("latin1", 0, SUM_LENGTH)) return [];
    const index: Stored<T> = JSON.parse(body.toString("utf8"));
    if (index.schema !== SCHEMA || index.fingerprint !== fingerprint) return [];
    return index.folders;
  } catch {
    return [];
  }
}

/** Two projects that happen to share a file only push each other out: an index names the folders that it is about. */
export function indexPath(cacheFolder: string, root: string, kind: string): string {
  return join(cacheFolder, "catalog", `${checksum(Buffer.from(root))}-${kind}.json`);
}

/** Losing it costs a parse, so nothing is synced and no failure is told. */
export function writeIndex<T>(path: string | undefined, fingerprint: string, folders: FolderIndex<T>[]): void {
  if (path === undefined) return;
  const temporary = `${path}.${randomName()}.tmp`;
  try {
    const index: Stored<T> = { schema: SCHEMA, fingerprint, folders };
    const body = Buffer.from(JSON.stringify(index));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, Buffer.concat([Buffer.from(checksum(body)), body]), { flag: "wx", mode: 0o600 });
    renameSync(temporary, path);
  } catch {
    removeQuietly(temporary);
  }
}

type Stored<T> = { schema: number; fingerprint: string; folders: FolderIndex<T>[] };

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Where it could not be written it cannot be removed either.
  }
}
