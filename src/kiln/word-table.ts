import { stem } from "./stem.ts";
import { isStopWord } from "./stop-words.ts";
import { hashWord, spelling } from "./tokens.ts";
import type { WordVectors } from "./word-vectors.ts";

/** Hashes of words and of their stems, by the number of the word. */
export type Vocabulary = { words: ArrayLike<number>; stems: ArrayLike<number> };

/** The words that were met, so that each is stemmed and looked up once. */
export type WordTable = {
  /** Number of a word, in the order in which they were met; `STOP` for one that says nothing. */
  find(hash: number, text: string, start: number, end: number): number;
  /** Number of a word's stem. */
  stemOf(word: number): number;
  /** How many different stems were met. */
  stems: number;
  /** Row of a word in the word vectors, -1 when unknown. */
  rowOf(word: number): number;
  vocabulary: Vocabulary;
};

export const STOP = -1;
const FREE = 0;

/** Words of an earlier vocabulary keep their numbers. */
export function createWordTable(words: WordVectors | undefined, known: Vocabulary): WordTable {
  // Open addressing, two numbers a word (hash, number + 1): a Map costs twice as much, and indexing asks millions of times.
  let slots = new Int32Array(2 << 14);
  let used = 0;
  const stems = new Map<number, number>();
  const stemOf: number[] = [];
  const rowOf: number[] = [];
  const vocabulary = { words: [] as number[], stems: [] as number[] };

  const keep = (at: number, hash: number, number: number): number => {
    slots[at] = hash;
    slots[at + 1] = number === STOP ? STOP : number + 1;
    if (++used * 4 > slots.length) slots = grown(slots);
    return number;
  };

  const add = (at: number, hash: number, stemHash: number): number => {
    const number = stems.get(stemHash) ?? stems.size;
    stems.set(stemHash, number);
    stemOf.push(number);
    rowOf.push(words?.row(hash) ?? -1);
    vocabulary.stems.push(stemHash);
    return keep(at, hash, vocabulary.words.push(hash) - 1);
  };

  for (let i = 0; i < known.words.length; i++) add(slotOf(known.words[i] as number, slots), known.words[i] as number, known.stems[i] as number);
  return {
    find(hash, text, start, end) {
      const at = slotOf(hash, slots);
      const found = slots[at + 1] as number;
      if (found > 0) return found - 1;
      if (found === STOP) return STOP;
      return isStopWord(hash) ? keep(at, hash, STOP) : add(at, hash, hashWord(stem(spelling(text, start, end))));
    },
    stemOf: (word) => stemOf[word] as number,
    get stems() {
      return stems.size;
    },
    rowOf: (word) => rowOf[word] as number,
    vocabulary,
  };
}

function slotOf(hash: number, slots: Int32Array): number {
  const mask = slots.length - 1;
  // FNV's high bits are better than its low ones.
  let at = ((hash ^ (hash >>> 15)) << 1) & mask;
  while (slots[at] !== hash && slots[at + 1] !== FREE) at = (at + 2) & mask;
  return at;
}

function grown(slots: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(slots.length * 2);
  for (let i = 0; i < slots.length; i += 2) if (slots[i + 1] !== FREE) larger.set(slots.subarray(i, i + 2), slotOf(slots[i] as number, larger));
  return larger;
}
