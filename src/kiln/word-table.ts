import { stem } from "./stem.ts";
import { isStopWord } from "./stop-words.ts";
import { hashWord, spelling } from "./tokens.ts";
import type { WordVectors } from "./word-vectors.ts";

/** The words that were met, so that each is stemmed and looked up once. Indexing asks it millions of times: all that is known of a word lies together. */
export type WordTable = {
  /** Place of the word in `slots`, good until the next call. */
  find(hash: number, text: string, start: number, end: number): number;
  /** Four numbers a word, see `STEM`, `ROW` and `TERM`; another array after the table has grown. */
  slots: Int32Array;
  /** Hash of a stem, by its number. */
  termOfStem(stem: number): number;
};

/** Number of its stem from 1 on, `STOP` for a word that says nothing. */
export const STEM = 1;
/** Row in the word vectors, -1 when unknown. */
export const ROW = 2;
/** Hash of its stem. */
export const TERM = 3;
export const STOP = -1;
const FREE = 0;

export function createWordTable(words: WordVectors | undefined): WordTable {
  let used = 0;
  const stems = new Map<number, number>();
  const terms: number[] = [0];

  const meet = (at: number, hash: number, text: string, start: number, end: number): number => {
    const { slots } = table;
    slots[at] = hash;
    slots[at + STEM] = STOP;
    slots[at + ROW] = -1;
    if (!isStopWord(hash)) {
      const term = hashWord(stem(spelling(text, start, end)));
      let number = stems.get(term);
      if (number === undefined) {
        number = terms.push(term) - 1;
        stems.set(term, number);
      }
      slots[at + STEM] = number;
      slots[at + ROW] = words?.row(hash) ?? -1;
      slots[at + TERM] = term;
    }
    if (++used * 8 <= slots.length) return at;
    table.slots = grown(slots);
    return slotOf(hash, table.slots);
  };

  const table: WordTable = {
    // Open addressing: a Map costs twice as much.
    slots: new Int32Array(4 << 14),
    find(hash, text, start, end) {
      const at = slotOf(hash, table.slots);
      return table.slots[at + STEM] === FREE ? meet(at, hash, text, start, end) : at;
    },
    termOfStem: (stem) => terms[stem] as number,
  };
  return table;
}

function slotOf(hash: number, slots: Int32Array): number {
  const mask = slots.length - 1;
  // FNV's high bits are better than its low ones.
  let at = ((hash ^ (hash >>> 15)) << 2) & mask;
  while (slots[at] !== hash && slots[at + STEM] !== FREE) at = (at + 4) & mask;
  return at;
}

function grown(slots: Int32Array): Int32Array {
  const larger = new Int32Array(slots.length * 2);
  for (let i = 0; i < slots.length; i += 4) if (slots[i + STEM] !== FREE) larger.set(slots.subarray(i, i + 4), slotOf(slots[i] as number, larger));
  return larger;
}
