import { nameOf, type ParsedNote } from "./parse-note.ts";
import { emptyTokens, scanTokens, type Tokens } from "./tokens.ts";
import { createSlab } from "./slab.ts";
import { MOST_ADDED } from "./byte-math.ts";
import { createTally } from "./tally.ts";
import type { WordVectors } from "./word-vectors.ts";
import { createWordTable, STOP, type Vocabulary, type WordTable } from "./word-table.ts";

/** What search knows of a note. */
export type NoteIndex = {
  /** Numbers of its words in the analyser's table; `IN_TITLE` is set for those of title, name, aliases and tags. */
  words: Int32Array;
  /** How often each occurs (at most 255; a word of the title counts more), and the sum of that. */
  counts: Uint8Array;
  length: number;
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
  /** Every word that was met. */
  table: Omit<WordTable, "find">;
  /** Words of a text that say something, by distinct stems, in order. */
  query(text: string): { stem: number; row: number }[];
  /** Where words of the given stems stand in a text, the first few hundred. */
  places(text: string, stems: ReadonlySet<number>): { stem: number; at: number }[];
  /** The meaning of a text as one vector of bytes; all zero when no word is known. */
  vector(text: string): Int8Array;
};

/** Remembers the words it has met; one serves a whole kiln. `known` is the vocabulary of notes that were analysed before. */
export function createAnalyser(words: WordVectors | undefined, known: Vocabulary = { words: [], stems: [] }): Analyser {
  const table = createWordTable(words, known);
  const { stemOf, rowOf } = table;
  const tokens = emptyTokens();
  const shortTokens = emptyTokens();
  /** Words of a group of sections; all that came before in the note. */
  const group = createTally(1 << 16);
  const whole = createTally(1 << 16);
  const slab = createSlab();
  const size = words?.dimensions ?? 0;
  const sum = words?.math.sum ?? new Float32Array(0);
  const titleSum = new Float32Array(size);

  /** Counts the words of a text. */
  const take = (text: string, from: number, to: number, times: number, tokens: Tokens): void => {
    scanTokens(text, tokens, from, to);
    const { data, count } = tokens;
    for (let i = 0, at = 0; i < count; i++, at += 3) {
      const word = table.find(data[at] as number, text, data[at + 1] as number, data[at + 2] as number);
      if (word !== STOP) group.add(word, times);
    }
  };

  /** Adds the vectors of the counted words to the sum, each at most `most` times. */
  const addMeaning = (most: number): void => {
    if (words === undefined) return;
    const { math, weights, inverseNorms, placeOf } = words;
    let count = 0;
    for (let i = 0; i < group.used; i++) {
      const word = group.list[i] as number;
      const row = rowOf(word);
      if (row < 0) continue;
      math.places[count] = placeOf(row);
      math.weights[count] = (weights[row] as number) * (inverseNorms[row] as number) * Math.min(most, group.counts[word] as number);
      if (++count < MOST_ADDED) continue;
      math.add(count);
      count = 0;
    }
    math.add(count);
  };

  const closeGroup = (): void => {
    for (let i = 0; i < group.used; i++) whole.add(group.list[i] as number, group.counts[group.list[i] as number] as number);
    group.clear();
  };

  return {
    note(path, note, options) {
      const title = [note.title, nameOf(path), ...note.aliases, ...note.tags].join(" ");
      const groups = options.vectors && size > 0 ? groupsOf(note) : 0;
      take(title, 0, title.length, TITLE_COUNT, shortTokens);
      if (groups > 0) {
        sum.fill(0);
        addMeaning(TITLE_IN_SECTION);
        titleSum.set(sum);
      }
      closeGroup();
      const inTitle = whole.used;

      const vectors = slab.bytes(groups * size);
      let number = -1;
      let length = LONG_GROUP;
      const close = (): void => {
        if (number >= 0) {
          sum.set(titleSum);
          addMeaning(Number.POSITIVE_INFINITY);
          quantise(sum, vectors.subarray(number * size, (number + 1) * size));
        }
        closeGroup();
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

      const found = slab.integers(whole.used);
      const counts = slab.counts(whole.used);
      let total = 0;
      for (let i = 0; i < found.length; i++) {
        const word = whole.list[i] as number;
        const count = Math.min(255, whole.counts[word] as number);
        found[i] = i < inTitle ? word | IN_TITLE : word;
        counts[i] = count;
        total += count;
      }
      whole.clear();
      return { words: found, counts, length: total, vectors };
    },
    table,
    query(text) {
      const found = new Map<number, { stem: number; row: number }>();
      scanTokens(text, tokens);
      for (let i = 0, at = 0; i < tokens.count; i++, at += 3) {
        const word = table.find(tokens.data[at] ?? 0, text, tokens.data[at + 1] ?? 0, tokens.data[at + 2] ?? 0);
        if (word === STOP) continue;
        const stem = stemOf(word);
        if (!found.has(stem)) found.set(stem, { stem, row: rowOf(word) });
      }
      return [...found.values()].slice(0, MOST_ASKED);
    },
    places(text, stems) {
      const places: { stem: number; at: number }[] = [];
      scanTokens(text, tokens);
      for (let i = 0, at = 0; i < tokens.count && places.length < MOST_PLACES; i++, at += 3) {
        const start = tokens.data[at + 1] ?? 0;
        const word = table.find(tokens.data[at] ?? 0, text, start, tokens.data[at + 2] ?? 0);
        if (word !== STOP && stems.has(stemOf(word))) places.push({ stem: stemOf(word), at: start });
      }
      return places;
    },
    vector(text) {
      take(text, 0, text.length, 1, shortTokens);
      sum.fill(0);
      addMeaning(Number.POSITIVE_INFINITY);
      group.clear();
      return quantise(sum, new Int8Array(size));
    },
  };
}

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
