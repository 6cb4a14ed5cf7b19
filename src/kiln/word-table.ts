import { stem } from "./stem.ts";
import { isStopWord } from "./stop-words.ts";
import { hashWord, spelling } from "./tokens.ts";
import type { WordVectors } from "./word-vectors.ts";

/** Numbers for the words that were met, so that each is stemmed and looked up once. Kept in arrays: this is what indexing does millions of times. */
export type WordTable = {
  /** Number of the word, -1 for one that says nothing. */
  id(hash: number, text: string, start: number, end: number): number;
  /** Hash of its stem. */
  term(id: number): number;
  /** Number of its stem. */
  stem(id: number): number;
  termOfStem(stem: number): number;
  /** Row in the word vectors, -1 when unknown. */
  row(id: number): number;
};

export function createWordTable(words: WordVectors | undefined): WordTable {
  // Open addressing: a Map costs twice as much here, and this is half of the time that indexing takes.
  let hashes = new Int32Array(1 << 16);
  let ids = new Int32Array(1 << 16).fill(FREE);
  let used = 0;
  const stemIds = new Map<number, number>();
  const stemOf: number[] = [];
  const rowOf: number[] = [];
  const termOf: number[] = [];

  const put = (hash: number, id: number): void => {
    if (++used * 2 > ids.length) grow();
    const at = slot(hash, hashes, ids);
    hashes[at] = hash;
    ids[at] = id;
  };

  const grow = (): void => {
    const [oldHashes, oldIds] = [hashes, ids];
    hashes = new Int32Array(oldIds.length * 2);
    ids = new Int32Array(oldIds.length * 2).fill(FREE);
    for (let i = 0; i < oldIds.length; i++) {
      if (oldIds[i] === FREE) continue;
      const at = slot(oldHashes[i] as number, hashes, ids);
      hashes[at] = oldHashes[i] as number;
      ids[at] = oldIds[i] as number;
    }
  };

  const meet = (hash: number, text: string, start: number, end: number): number => {
    let id = -1;
    if (!isStopWord(hash)) {
      const term = hashWord(stem(spelling(text, start, end)));
      let stemId = stemIds.get(term);
      if (stemId === undefined) {
        stemId = termOf.push(term) - 1;
        stemIds.set(term, stemId);
      }
      id = stemOf.push(stemId) - 1;
      rowOf.push(words?.row(hash) ?? -1);
    }
    put(hash, id);
    return id;
  };

  return {
    id(hash, text, start, end) {
      const id = ids[slot(hash, hashes, ids)] as number;
      return id === FREE ? meet(hash, text, start, end) : id;
    },
    term: (id) => termOf[stemOf[id] as number] as number,
    stem: (id) => stemOf[id] as number,
    termOfStem: (stem) => termOf[stem] as number,
    row: (id) => rowOf[id] as number,
  };
}

const FREE = -2;

function slot(hash: number, hashes: Int32Array, ids: Int32Array): number {
  const mask = ids.length - 1;
  // FNV's high bits are better than its low ones.
  let at = (hash ^ (hash >>> 15)) & mask;
  while (ids[at] !== FREE && hashes[at] !== hash) at = (at + 1) & mask;
  return at;
}
