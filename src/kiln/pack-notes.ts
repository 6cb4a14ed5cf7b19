import type { NoteIndex } from "./analyse-note.ts";

/**
 * The notes as a query scans them: each kind of number of all notes in one array, so that memory is read from front to back.
 * What belongs to note `i` is from `…At[i]` up to `…At[i + 1]`; counts lie as terms do.
 */
export type NotePack<N> = {
  notes: readonly N[];
  lengths: Float32Array;
  terms: Int32Array;
  counts: Uint8Array;
  termsAt: Uint32Array;
  words: Int32Array;
  wordsAt: Uint32Array;
  vectors: Int8Array;
  vectorsAt: Uint32Array;
  /** `SIEVE` rows of one bit a note: set when the note has a term of that row. Tells for nine notes of ten that a term is not there. */
  sieve: Int32Array;
};

export const SIEVE = 1024;

export function sieveRow(term: number): number {
  return term >>> 22;
}

/** Notes that were loaded lie right already; others are moved, and then use the pack's memory instead of their own. */
export function packNotes<N extends NoteIndex>(notes: readonly N[]): NotePack<N> {
  const terms = joined(notes.map((note) => note.terms), Int32Array);
  const counts = joined(notes.map((note) => note.counts), Uint8Array);
  const words = joined(notes.map((note) => note.words), Int32Array);
  const vectors = joined(notes.map((note) => note.vectors), Int8Array);
  notes.forEach((note, i) => {
    note.terms = terms.part(i);
    note.counts = counts.part(i);
    note.words = words.part(i);
    note.vectors = vectors.part(i);
  });
  return {
    notes, lengths: Float32Array.from(notes, (note) => note.length), terms: terms.all, counts: counts.all, termsAt: terms.at,
    words: words.all, wordsAt: words.at, vectors: vectors.all, vectorsAt: vectors.at,
    sieve: sieveOf(terms.all, terms.at),
  };
}

function sieveOf(terms: Int32Array, termsAt: Uint32Array): Int32Array {
  const count = termsAt.length - 1;
  const blocks = Math.ceil(count / 32);
  const sieve = new Int32Array(SIEVE * blocks);
  for (let i = 0; i < count; i++) {
    const end = termsAt[i + 1] as number;
    for (let t = termsAt[i] as number; t < end; t++) {
      const at = sieveRow(terms[t] as number) * blocks + (i >> 5);
      sieve[at] = (sieve[at] as number) | (1 << (i & 31));
    }
  }
  return sieve;
}

type Numbers = Int32Array | Int8Array | Uint8Array;
type Joined<A> = { all: A; at: Uint32Array; part(i: number): A };

function joined<A extends Numbers>(parts: readonly A[], kind: { new (buffer: ArrayBufferLike, from: number, length: number): A; new (length: number): A }): Joined<A> {
  const at = new Uint32Array(parts.length + 1);
  let total = 0;
  let inPlace = true;
  const [first] = parts;
  parts.forEach((part, i) => {
    inPlace &&= part.buffer === first?.buffer && part.byteOffset === first.byteOffset + total * part.BYTES_PER_ELEMENT;
    total += part.length;
    at[i + 1] = total;
  });
  if (inPlace && first !== undefined) return { all: new kind(first.buffer, first.byteOffset, total), at, part: (i) => parts[i] as A };
  const all = new kind(total);
  parts.forEach((part, i) => all.set(part, at[i]));
  return { all, at, part: (i) => all.subarray(at[i], at[i + 1]) as A };
}
