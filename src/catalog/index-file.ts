import { hash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Fault } from "../contract/problem.ts";

/** What a content means, without its body and without its path. */
export type IndexRecord<T> = { name: string | undefined; value: T | undefined; faults: Fault[] };

const SCHEMA = 1;
const HASH_LENGTH = 64;

/**
 * The index of a catalog: content hash → record. It is a cache in the user's own folder, never in the project, where a clone could
 * bring its own. Whatever is wrong with it, it is ignored: the files are parsed again.
 */
export function readIndex<T>(path: string | undefined, fingerprint: string): Map<string, IndexRecord<T>> {
  if (path === undefined) return new Map();
  try {
    const bytes = readFileSync(path);
    const body = bytes.subarray(HASH_LENGTH);
    if (hash("sha256", body) !== bytes.toString("latin1", 0, HASH_LENGTH)) return new Map();
    const index: Stored<T> = JSON.parse(body.toString("utf8"));
    if (index.schema !== SCHEMA || index.fingerprint !== fingerprint) return new Map();
    return new Map(index.records.map(([key, name, value, faults]) => [key, { name: name ?? undefined, value: value ?? undefined, faults: faults ?? [] }]));
  } catch {
    return new Map();
  }
}

type Stored<T> = { schema: number; fingerprint: string; records: [key: string, name: string | null, value: T | null, faults?: Fault[]][] };

/** Losing it costs a parse, so nothing is synced and no failure is told. */
export function writeIndex<T>(path: string | undefined, fingerprint: string, records: ReadonlyMap<string, IndexRecord<T>>): void {
  if (path === undefined) return;
  const temporary = `${path}.${randomBytes(8).toString("hex")}.tmp`;
  try {
    const stored: Stored<T> = { schema: SCHEMA, fingerprint, records: [] };
    for (const [key, { name, value, faults }] of records) {
      stored.records.push(faults.length === 0 ? [key, name ?? null, value ?? null] : [key, name ?? null, value ?? null, faults]);
    }
    const body = JSON.stringify(stored);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, hash("sha256", body) + body, { flag: "wx", mode: 0o600 });
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}
