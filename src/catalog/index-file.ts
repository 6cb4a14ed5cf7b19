import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Fault } from "../contract/problem.ts";
import { checksum } from "../lib/checksum.ts";
import { randomName } from "../lib/sha256.ts";

/** What a content means, without its body and without its path. `digest` is the sha-256 of its bytes. */
export type IndexRecord<T> = { digest: string; name?: string | undefined; value?: T | undefined; faults: Fault[] };

/**
 * The files of one folder, sorted by key: `records` and `signatures` (`SIGNATURE` numbers each) stand in the order of `keys`.
 * All files that have a signature are on one device.
 */
export type FolderIndex<T> = { folder: string; dialect: string; device: number; keys: string[]; signatures: Float64Array; records: IndexRecord<T>[] };

export const SIGNATURE = 4;
const SCHEMA = 5;
const SUM_LENGTH = 16;
const COUNT_LENGTH = 8;
const HEAD = SUM_LENGTH + COUNT_LENGTH;

/**
 * The index of a catalog. It is a cache in the user's own folder, never in the project, where a clone could bring its own.
 * Whatever is wrong with it, it is ignored: the files are parsed again.
 */
export function readIndex<T>(path: string | undefined, fingerprint: string): FolderIndex<T>[] {
  if (path === undefined) return [];
  try {
    const bytes = readFileSync(path);
    if (checksum(bytes.subarray(SUM_LENGTH)) !== bytes.toString("latin1", 0, SUM_LENGTH)) return [];
    const end = HEAD + Number.parseInt(bytes.toString("latin1", SUM_LENGTH, HEAD), 16) * Float64Array.BYTES_PER_ELEMENT;
    const index: Stored = JSON.parse(bytes.toString("utf8", end));
    if (index.schema !== SCHEMA || index.fingerprint !== fingerprint) return [];
    return unpack(index, new Float64Array(bytes.buffer.slice(bytes.byteOffset + HEAD, bytes.byteOffset + end)));
  } catch {
    return [];
  }
}

/** Two projects that happen to share a file only push each other out: an index names the folders that it is about. */
export function indexPath(cacheFolder: string, root: string, kind: string): string {
  return join(cacheFolder, "catalog", `${checksum(Buffer.from(root))}-${kind}.index`);
}

/** Losing it costs a parse, so nothing is synced and no failure is told. */
export function writeIndex<T>(path: string | undefined, fingerprint: string, folders: FolderIndex<T>[]): void {
  if (path === undefined) return;
  const temporary = `${path}.${randomName()}.tmp`;
  try {
    const signatures = Buffer.concat(folders.map(({ signatures: { buffer, byteOffset, byteLength } }) => Buffer.from(buffer, byteOffset, byteLength)));
    const count = (signatures.length / Float64Array.BYTES_PER_ELEMENT).toString(16).padStart(COUNT_LENGTH, "0");
    const body = Buffer.concat([Buffer.from(count), signatures, Buffer.from(JSON.stringify(pack(folders, fingerprint)))]);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(temporary, Buffer.concat([Buffer.from(checksum(body)), body]), { flag: "wx", mode: 0o600 });
    renameSync(temporary, path);
  } catch {
    removeQuietly(temporary);
  }
}

/**
 * What thousands of definitions have in common is stored once: of a value only its name and description are its own, the rest is a
 * number into `shared`. `names` and `faults` hold the few that are not what one would expect, by position.
 */
type Stored = { schema: number; fingerprint: string; shared: object[]; folders: StoredFolder[] };
type StoredFolder = Pick<FolderIndex<object>, "folder" | "dialect" | "device" | "keys"> & {
  digests: string;
  own: Own[];
  rest: number[];
  names: Record<number, string | null>;
  faults: Record<number, Fault[]>;
};
type Own = { name?: string; description?: string };

const NO_VALUE = -1;
const DIGEST_LENGTH = 64;

function pack<T>(folders: readonly FolderIndex<T>[], fingerprint: string): Stored {
  const numbers = new Map<string, number>();
  const shared: object[] = [];
  const numberOf = (rest: object): number => {
    const text = JSON.stringify(rest);
    let number = numbers.get(text);
    if (number === undefined) {
      numbers.set(text, (number = shared.length));
      shared.push(rest);
    }
    return number;
  };
  const packed = folders.map(({ folder, dialect, device, keys, records }): StoredFolder => {
    const stored: StoredFolder = { folder, dialect, device, keys, digests: records.map(({ digest }) => digest).join(""), own: [], rest: [], names: {}, faults: {} };
    records.forEach((record, i) => {
      const { name, description, ...rest }: Own = record.value ?? {};
      stored.own.push({ ...(name === undefined ? {} : { name }), ...(description === undefined ? {} : { description }) });
      stored.rest.push(record.value === undefined ? NO_VALUE : numberOf(rest));
      if (record.name !== name) stored.names[i] = record.name ?? null;
      if (record.faults.length > 0) stored.faults[i] = record.faults;
    });
    return stored;
  });
  return { schema: SCHEMA, fingerprint, shared, folders: packed };
}

function unpack<T>({ shared, folders }: Stored, signatures: Float64Array): FolderIndex<T>[] {
  let used = 0;
  return folders.map(({ folder, dialect, device, keys, digests, own, rest, names, faults }) => {
    const records = own.map((mine, i): IndexRecord<T> => {
      const number = rest[i] ?? NO_VALUE;
      return {
        digest: digests.slice(i * DIGEST_LENGTH, (i + 1) * DIGEST_LENGTH),
        name: i in names ? names[i] ?? undefined : mine.name,
        value: number === NO_VALUE ? undefined : (Object.assign(mine, shared[number]) as T),
        faults: faults[i] ?? NONE,
      };
    });
    const from = used;
    used += keys.length * SIGNATURE;
    return { folder, dialect, device, keys, signatures: signatures.subarray(from, used), records };
  });
}

const NONE: Fault[] = [];

function removeQuietly(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Where it could not be written it cannot be removed either.
  }
}
