import { nameOf, type ParsedNote } from "./parse-note.ts";
import { emptyTokens, scanTokens } from "./tokens.ts";
import { createSlab, type Slab } from "./slab.ts";
import type { WordVectors } from "./word-vectors.ts";
import { createWordTable, type WordTable } from "./word-table.ts";

/** What search knows of a note. */
export type NoteIndex = {
  /** Hashes of its stems, ascending, and how often each occurs (at most 255; a word of the title counts more). */
  terms: Int32Array;
  counts: Uint8Array;
  /** Sum of the counts. */
  length: number;
  /** Rows of its words in the word vectors; `IN_TITLE` is set for those of title, name, aliases and tags. */
  words: Int32Array;
  /** One vector for every group of sections, see `quantise`. */
  vectors: Int8Array;
};

export const IN_TITLE = 0x4000_0000;
const TITLE_COUNT = 3;
const HEADING_COUNT = 2;
const TITLE_IN_SECTION = 3;
/** Short sections share a vector until they have this many characters together: a handful of words has no meaning to average. */
const LONG_GROUP = 1000;
const MOST_GROUPS = 200;
const MOST_PLACES = 300;

export type Analyser = {
  note(path: string, note: ParsedNote, options: { vectors: boolean }): NoteIndex;
  /** Distinct words of a text that say something, in order. */
  query(text: string): { term: number; row: number }[];
  /** Where the given terms stand in a text, the first few hundred. */
  places(text: string, terms: ReadonlySet<number>): { term: number; at: number }[];
  /** The meaning of a text as one vector of bytes; all zero when no word is known. */
  vector(text: string): Int8Array;
};

/** Remembers the words it has met; one serves a whole kiln. */
export function createAnalyser(words: WordVectors | undefined): Analyser {
  const table = createWordTable(words);
  const tokens = emptyTokens();
  const tally = createTally(1 << 16);
  const rows = createTally(words?.weights.length ?? 0);
  const slab = createSlab();
  const size = words?.dimensions ?? 0;
  const sum = new Float64Array(size);
  const titleSum = new Float64Array(size);

  const add = (sum: Float64Array, row: number, times: number): void => {
    if (words === undefined || row < 0) return;
    const weight = (words.weights[row] as number) * (words.inverseNorms[row] as number) * times;
    const { vectors } = words;
    for (let k = 0, at = row * size; k < size; k++, at++) sum[k] = (sum[k] as number) + weight * (vectors[at] as number);
  };

  /** Counts the words of a text and adds their meaning to `sum`, if there is one. */
  const take = (text: string, from: number, to: number, times: number, sum: Float64Array | undefined, mark: number): void => {
    scanTokens(text, tokens, from, to);
    for (let i = 0, at = 0; i < tokens.count; i++, at += 3) {
      const id = table.id(tokens.data[at] as number, text, tokens.data[at + 1] as number, tokens.data[at + 2] as number);
      if (id < 0) continue;
      tally.add(table.stem(id), times);
      const row = table.row(id);
      if (row < 0) continue;
      if (rows.counts[row] === 0) rows.add(row, mark);
      if (sum !== undefined) add(sum, row, times);
    }
  };

  return {
    note(path, note, options) {
      const title = [note.title, nameOf(path), ...note.aliases, ...note.tags].join(" ");
      take(title, 0, title.length, TITLE_COUNT, undefined, TITLE_MARK);
      titleSum.fill(0);
      for (let i = 0; i < rows.used; i++) add(titleSum, rows.list[i] as number, TITLE_IN_SECTION);

      const groups = options.vectors && size > 0 ? groupsOf(note) : 0;
      const vectors = slab.bytes(groups * size);
      let group = -1;
      let length = LONG_GROUP;
      for (const { heading, start, end } of note.sections) {
        if (length >= LONG_GROUP && group < groups - 1) {
          if (group >= 0) quantise(sum, vectors.subarray(group * size, (group + 1) * size));
          sum.set(titleSum);
          group++;
          length = 0;
        }
        length += end - start;
        const into = groups > 0 ? sum : undefined;
        if (heading !== null && heading !== note.title) take(heading, 0, heading.length, HEADING_COUNT, into, TEXT_MARK);
        take(note.text, start, end, 1, into, TEXT_MARK);
      }
      if (group >= 0) quantise(sum, vectors.subarray(group * size, (group + 1) * size));

      const { terms, counts } = packed(tally, table, slab);
      const found = slab.integers(rows.used);
      found.set(rows.list.subarray(0, rows.used));
      for (let i = 0; i < found.length; i++) if (rows.counts[found[i] as number] === TITLE_MARK) found[i] = (found[i] as number) | IN_TITLE;
      tally.clear();
      rows.clear();
      return { terms, counts, length: lengthOf(counts), words: found, vectors };
    },
    query(text) {
      const found = new Map<number, { term: number; row: number }>();
      scanTokens(text, tokens);
      for (let i = 0, at = 0; i < tokens.count; i++, at += 3) {
        const id = table.id(tokens.data[at] ?? 0, text, tokens.data[at + 1] ?? 0, tokens.data[at + 2] ?? 0);
        if (id >= 0 && !found.has(table.term(id))) found.set(table.term(id), { term: table.term(id), row: table.row(id) });
      }
      return [...found.values()].slice(0, MOST_ASKED);
    },
    places(text, terms) {
      const places: { term: number; at: number }[] = [];
      scanTokens(text, tokens);
      for (let i = 0, at = 0; i < tokens.count && places.length < MOST_PLACES; i++, at += 3) {
        const start = tokens.data[at + 1] ?? 0;
        const id = table.id(tokens.data[at] ?? 0, text, start, tokens.data[at + 2] ?? 0);
        if (id >= 0 && terms.has(table.term(id))) places.push({ term: table.term(id), at: start });
      }
      return places;
    },
    vector(text) {
      sum.fill(0);
      take(text, 0, text.length, 1, sum, TEXT_MARK);
      tally.clear();
      rows.clear();
      return quantise(sum, new Int8Array(size));
    },
  };
}

const TITLE_MARK = 2;
const TEXT_MARK = 1;
/** Questions are short; what is longer was pasted. */
const MOST_ASKED = 64;

/** Counters by small numbers that forget in the time that they were used. */
type Tally = { counts: Int32Array; list: Int32Array; used: number; add(id: number, times: number): void; clear(): void };

function createTally(size: number): Tally {
  const tally: Tally = {
    counts: new Int32Array(size),
    list: new Int32Array(1024),
    used: 0,
    add(id, times) {
      if (id >= tally.counts.length) tally.counts = grown(tally.counts, id);
      const before = tally.counts[id] as number;
      tally.counts[id] = before + times;
      if (before > 0) return;
      if (tally.used >= tally.list.length) tally.list = grown(tally.list, tally.used);
      tally.list[tally.used++] = id;
    },
    clear() {
      for (let i = 0; i < tally.used; i++) tally.counts[tally.list[i] as number] = 0;
      tally.used = 0;
    },
  };
  return tally;
}

function grown(array: Int32Array, needed: number): Int32Array {
  const larger = new Int32Array(Math.max(needed + 1, array.length * 2));
  larger.set(array);
  return larger;
}

function groupsOf(note: ParsedNote): number {
  let groups = 0;
  let length = LONG_GROUP;
  for (const { start, end } of note.sections) {
    if (length >= LONG_GROUP) {
      groups++;
      length = 0;
    }
    length += end - start;
  }
  return Math.min(groups, MOST_GROUPS);
}

/** Term and count go through the sort as one number. */
function packed(tally: Tally, table: WordTable, slab: Slab): { terms: Int32Array; counts: Uint8Array } {
  const pairs = new Float64Array(tally.used);
  for (let i = 0; i < tally.used; i++) {
    const stem = tally.list[i] as number;
    pairs[i] = table.termOfStem(stem) * 256 + Math.min(255, tally.counts[stem] as number);
  }
  pairs.sort();
  const terms = slab.integers(pairs.length);
  const counts = slab.counts(pairs.length);
  for (let i = 0; i < pairs.length; i++) {
    const pair = pairs[i] as number;
    const term = Math.floor(pair / 256);
    terms[i] = term;
    counts[i] = pair - term * 256;
  }
  return { terms, counts };
}

export function lengthOf(counts: Uint8Array): number {
  let length = 0;
  for (let i = 0; i < counts.length; i++) length += counts[i] as number;
  return length;
}

/** Size of a usual part of a vector in bytes: all vectors get (nearly) the same length, so that a product of two is their cosine. */
export const UNIT = 40;

export function quantise(vector: ArrayLike<number>, into: Int8Array): Int8Array {
  let square = 0;
  for (let k = 0; k < into.length; k++) square += (vector[k] as number) ** 2;
  if (square === 0) return into;
  const scale = (UNIT * Math.sqrt(into.length)) / Math.sqrt(square);
  for (let k = 0; k < into.length; k++) into[k] = Math.max(-127, Math.min(127, Math.round((vector[k] as number) * scale)));
  return into;
}
