import { readFileSync } from "node:fs";

/** Vectors of English words, found by the hash of the word. Views into one buffer: loading is one read. */
export type WordVectors = {
  dimensions: number;
  /** Row of a word, -1 when it is unknown. */
  row(hash: number): number;
  /** How much a row says: small for frequent words. */
  weights: Float32Array;
  /** Multiplying a row by this makes its length 1. */
  inverseNorms: Float32Array;
  vectors: Int8Array;
};

const MAGIC = "CRUWV\0\0\u0001";

/** Undefined when the file is missing or is not one of ours; search then does with words alone. */
export function loadWordVectors(path: string): WordVectors | undefined {
  let file: Buffer;
  try {
    file = readFileSync(path);
  } catch {
    return undefined;
  }
  if (file.length < 16 || file.toString("latin1", 0, 8) !== MAGIC) return undefined;
  const count = file.readUInt32LE(8);
  const dimensions = file.readUInt32LE(12);
  if (file.length !== 16 + count * (12 + dimensions) || file.byteOffset % 4 !== 0) return undefined;
  const at = file.byteOffset + 16;
  const hashes = new Uint32Array(file.buffer, at, count);
  return {
    dimensions,
    row: (hash) => find(hashes, hash >>> 0),
    weights: new Float32Array(file.buffer, at + count * 4, count),
    inverseNorms: new Float32Array(file.buffer, at + count * 8, count),
    vectors: new Int8Array(file.buffer, at + count * 12, count * dimensions),
  };
}

function find(hashes: Uint32Array, hash: number): number {
  let low = 0;
  let high = hashes.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const value = hashes[middle] ?? 0;
    if (value === hash) return middle;
    if (value < hash) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
