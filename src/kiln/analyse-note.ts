import { nameOf, type ParsedNote } from "./parse-note.ts";
import { emptyTokens, scanTokens, type Tokens } from "./tokens.ts";
import { createSlab } from "./slab.ts";
import { createTally, type Tally } from "./tally.ts";
import type { WordVectors } from "./word-vectors.ts";
import { createWordTable, ROW, STEM, STOP, TERM } from "./word-table.ts";

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
/** At most this, however often the title repeats a word. */
const TITLE_IN_SECTION = TITLE_COUNT;
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
  const shortTokens = emptyTokens();
  const tally = createTally(1 << 16);
  const rows = createTally(words?.weights.length ?? 0);
  const group = createTally(words?.weights.length ?? 0);
  const slab = createSlab();
  const size = words?.dimensions ?? 0;
  const sum = new Float64Array(size);
  const titleSum = new Float64Array(size);

  /** Counts the words of a text. */
  const take = (text: string, from: number, to: number, times: number, tokens: Tokens): void => {
    scanTokens(text, tokens, from, to);
    const { data, count } = tokens;
    for (let i = 0, at = 0; i < count; i++, at += 3) {
      const slot = table.find(data[at] as number, text, data[at + 1] as number, data[at + 2] as number);
      const stem = table.slots[slot + STEM] as number;
      if (stem === STOP) continue;
      tally.add(stem, times);
      const row = table.slots[slot + ROW] as number;
      if (row >= 0) group.add(row, times);
    }
  };

  const closeGroup = (mark: number): void => {
    for (let i = 0; i < group.used; i++) if (rows.counts[group.list[i] as number] === 0) rows.add(group.list[i] as number, mark);
    group.clear();
  };

  return {
    note(path, note, options) {
      const title = [note.title, nameOf(path), ...note.aliases, ...note.tags].join(" ");
      take(title, 0, title.length, TITLE_COUNT, shortTokens);
      titleSum.fill(0);
      if (words !== undefined) addMeaning(titleSum, group, words, TITLE_IN_SECTION);
      closeGroup(TITLE_MARK);

      const groups = options.vectors && size > 0 ? groupsOf(note) : 0;
      const vectors = slab.bytes(groups * size);
      let number = -1;
      let length = LONG_GROUP;
      const close = (): void => {
        if (number >= 0 && words !== undefined) {
          sum.set(titleSum);
          addMeaning(sum, group, words);
          quantise(sum, vectors.subarray(number * size, (number + 1) * size));
        }
        closeGroup(TEXT_MARK);
      };
      for (const { heading, start, end } of note.sections) {
        if (length >= LONG_GROUP && number < groups - 1) {
          close();
          number++;
          length = 0;
        }
        length += end - start;
        if (heading !== null && heading !== note.title) take(heading, 0, heading.length, HEADING_COUNT, shortTokens);
        take(note.text, start, end, 1, tokens);
      }
      close();

      const terms = slab.integers(tally.used);
      const counts = slab.counts(tally.used);
      const total = tally.sorted(table.termOfStem, terms, counts);
      const found = slab.integers(rows.used);
      for (let i = 0; i < found.length; i++) {
        const row = rows.list[i] as number;
        found[i] = rows.counts[row] === TITLE_MARK ? row | IN_TITLE : row;
      }
      tally.clear();
      rows.clear();
      return { terms, counts, length: total, words: found, vectors };
    },
    query(text) {
      const found = new Map<number, { term: number; row: number }>();
      scanTokens(text, tokens);
      for (let i = 0, at = 0; i < tokens.count; i++, at += 3) {
        const slot = table.find(tokens.data[at] ?? 0, text, tokens.data[at + 1] ?? 0, tokens.data[at + 2] ?? 0);
        const [stem = STOP, row = -1, term = 0] = table.slots.subarray(slot + STEM, slot + TERM + 1);
        if (stem !== STOP && !found.has(term)) found.set(term, { term, row });
      }
      return [...found.values()].slice(0, MOST_ASKED);
    },
    places(text, terms) {
      const places: { term: number; at: number }[] = [];
      scanTokens(text, tokens);
      for (let i = 0, at = 0; i < tokens.count && places.length < MOST_PLACES; i++, at += 3) {
        const start = tokens.data[at + 1] ?? 0;
        const slot = table.find(tokens.data[at] ?? 0, text, start, tokens.data[at + 2] ?? 0);
        const term = table.slots[slot + TERM] ?? 0;
        if (table.slots[slot + STEM] !== STOP && terms.has(term)) places.push({ term, at: start });
      }
      return places;
    },
    vector(text) {
      sum.fill(0);
      take(text, 0, text.length, 1, shortTokens);
      if (words !== undefined) addMeaning(sum, group, words);
      tally.clear();
      group.clear();
      return quantise(sum, new Int8Array(size));
    },
  };
}

const TITLE_MARK = 2;
const TEXT_MARK = 1;
/** Questions are short; what is longer was pasted. */
const MOST_ASKED = 64;

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

export function lengthOf(counts: Uint8Array): number {
  let length = 0;
  for (let i = 0; i < counts.length; i++) length += counts[i] as number;
  return length;
}

/** Adds the vectors of the counted rows. Four rows at a time: together with finding words this is most of what indexing costs. */
function addMeaning(sum: Float64Array, counted: Tally, { vectors, weights, inverseNorms }: WordVectors, most = Number.POSITIVE_INFINITY): void {
  const size = sum.length;
  const { list, counts, used } = counted;
  const weight = (row: number): number => (weights[row] as number) * (inverseNorms[row] as number) * Math.min(most, counts[row] as number);
  let i = 0;
  for (; i + 3 < used; i += 4) {
    const a = list[i] as number;
    const b = list[i + 1] as number;
    const c = list[i + 2] as number;
    const d = list[i + 3] as number;
    const aWeight = weight(a);
    const bWeight = weight(b);
    const cWeight = weight(c);
    const dWeight = weight(d);
    for (let k = 0, aAt = a * size, bAt = b * size, cAt = c * size, dAt = d * size; k < size; k++) {
      const ab = aWeight * (vectors[aAt + k] as number) + bWeight * (vectors[bAt + k] as number);
      const cd = cWeight * (vectors[cAt + k] as number) + dWeight * (vectors[dAt + k] as number);
      sum[k] = (sum[k] as number) + ab + cd;
    }
  }
  for (; i < used; i++) {
    const row = list[i] as number;
    const w = weight(row);
    for (let k = 0, at = row * size; k < size; k++, at++) sum[k] = (sum[k] as number) + w * (vectors[at] as number);
  }
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
