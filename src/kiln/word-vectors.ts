import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { type ByteMath, createByteMath } from "./byte-math.ts";

/** Vectors of English words, found by the hash of the word. Views into one buffer: loading is one read. */
export type WordVectors = {
  dimensions: number;
  /** How many words are known. */
  rows: number;
  /** Row of a word, -1 when it is unknown. */
  row(hash: number): number;
  /** How much a row says: small for frequent words. */
  weights: Float32Array;
  /** Multiplying a row by this makes its length 1. */
  inverseNorms: Float32Array;
  /** Where the vector of a row begins in `math`'s table. */
  placeOf(row: number): number;
  math: ByteMath;
};

const MAGIC = "CRUWV\0\0\u0001";
const HEAD = 16;

/** Undefined when the file is missing or is not one of ours; search then does with words alone. */
export function loadWordVectors(path: string): WordVectors | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    return read(file);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function read(file: number): WordVectors | undefined {
  const head = Buffer.alloc(HEAD);
  if (readSync(file, head, 0, HEAD, 0) < HEAD || head.toString("latin1", 0, 8) !== MAGIC) return undefined;
  const rows = head.readUInt32LE(8);
  const dimensions = head.readUInt32LE(12);
  const size = HEAD + rows * (12 + dimensions);
  if (fstatSync(file).size !== size) return undefined;
  const math = createByteMath(size, dimensions);
  const { table } = math;
  for (let done = 0; done < size; ) {
    const count = readSync(file, table, done, size - done, done);
    if (count === 0) return undefined;
    done += count;
  }
  const at = table.byteOffset + HEAD;
  const hashes = new Uint32Array(table.buffer, at, rows);
  const vectorsAt = HEAD + rows * 12;
  return {
    dimensions, rows, math,
    row: (hash) => find(hashes, hash >>> 0),
    weights: new Float32Array(table.buffer, at + rows * 4, rows),
    inverseNorms: new Float32Array(table.buffer, at + rows * 8, rows),
    placeOf: (row) => vectorsAt + row * dimensions,
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
