import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Fault } from "../contract/problem.ts";
import { checksum } from "../lib/checksum.ts";
import { randomName } from "../lib/sha256.ts";
import type { Seen } from "./signature.ts";

/** What a content means, without its body and without its path. */
export type IndexRecord<T> = { name: string | undefined; value: T | undefined; faults: Fault[] };

const SCHEMA = 3;
const CHECKSUM_LENGTH = 16;

/** By dialect, then by the hash of the content. */
export type IndexRecords<T> = Map<string, Map<string, IndexRecord<T>>>;

/** By folder, then by the path below it. */
export type SeenFiles = Map<string, Map<string, Seen>>;

export type Index<T> = { records: IndexRecords<T>; seen: SeenFiles };

/**
 * The index of a catalog: content hash → record, and which file had which content when it looked how. It is a cache in the user's own folder, never in the project, where a clone could
 * bring its own. Whatever is wrong with it, it is ignored: the files are parsed again.
 */
export function readIndex<T>(path: string | undefined, fingerprint: string): Index<T> {
  const empty: Index<T> = { records: new Map(), seen: new Map() };
  if (path === undefined) return empty;
  try {
    const bytes = readFileSync(path);
    const body = bytes.subarray(CHECKSUM_LENGTH);
    if (checksum(body) !== bytes.toString("latin1", 0, CHECKSUM_LENGTH)) return empty;
    const index: Stored<T> = JSON.parse(body.toString("utf8"));
    if (index.schema !== SCHEMA || index.fingerprint !== fingerprint) return empty;
    return {
      records: new Map(Object.entries(index.dialects).map(([dialect, rows]) => [dialect, unpacked(rows, index.shapes)])),
      seen: new Map(Object.entries(index.seen).map(([folder, files]) => [folder, new Map(files)])),
    };
  } catch {
    return empty;
  }
}

export function indexPath(cacheFolder: string, root: string, kind: string): string {
  return join(cacheFolder, "catalog", `${checksum(Buffer.from(root))}-${kind}.json`);
}

/** Losing it costs a parse, so nothing is synced and no failure is told. Only what was used is kept. */
export function writeIndex<T extends object>(path: string | undefined, fingerprint: string, used: ReadonlyMap<string, string[]>, index: Index<T>): void {
  if (path === undefined) return;
  const temporary = `${path}.${randomName()}.tmp`;
  try {
    const body = JSON.stringify(packed(fingerprint, used, index));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, checksum(Buffer.from(body)) + body, { flag: "wx", mode: 0o600 });
    renameSync(temporary, path);
  } catch {
    removeQuietly(temporary);
  }
}

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Where it could not be written it cannot be removed either.
  }
}

/** A value is stored as the number of its shape and its fields: thousands of records have the same keys. */
type Stored<T> = { schema: number; fingerprint: string; shapes: (keyof T)[][]; dialects: Record<string, Row[]>; seen: Record<string, [string, Seen][]> };
type Row = [digest: string, name: string | null, shape: number, fields: unknown[], faults?: Fault[]];

function packed<T extends object>(fingerprint: string, used: ReadonlyMap<string, string[]>, { records, seen }: Index<T>): Stored<T> {
  const shapes = new Map<string, number>();
  const stored: Stored<T> = { schema: SCHEMA, fingerprint, shapes: [], dialects: {}, seen: Object.fromEntries([...seen].map(([folder, files]) => [folder, [...files]])) };
  for (const [dialect, digests] of used) {
    stored.dialects[dialect] = [...new Set(digests)].flatMap((digest): Row[] => {
      const record = records.get(dialect)?.get(digest);
      if (record === undefined) return [];
      const { name, value, faults } = record;
      const keys = value === undefined ? [] : (Object.keys(value) as (keyof T)[]).filter((key) => value[key] !== undefined);
      const shapeKey = JSON.stringify(keys);
      const shape = shapes.get(shapeKey) ?? stored.shapes.push(keys) - 1;
      shapes.set(shapeKey, shape);
      const row = [digest, name ?? null, value === undefined ? -1 : shape, keys.map((key) => value?.[key])] as const;
      return [faults.length === 0 ? [...row] : [...row, faults]];
    });
  }
  return stored;
}

function unpacked<T>(rows: readonly Row[], shapes: readonly (keyof T)[][]): Map<string, IndexRecord<T>> {
  const records = new Map<string, IndexRecord<T>>();
  for (const [digest, name, shape, fields, faults] of rows) {
    const keys = shapes[shape];
    records.set(digest, { name: name ?? undefined, value: keys === undefined ? undefined : valueOf(keys, fields), faults: faults ?? NONE });
  }
  return records;
}

const NONE: Fault[] = [];

function valueOf<T>(keys: readonly (keyof T)[], fields: readonly unknown[]): T {
  const value: Partial<Record<keyof T, unknown>> = {};
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    if (key !== undefined) value[key] = fields[i];
  }
  return value as T;
}
