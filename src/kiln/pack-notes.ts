import { IN_TITLE, type NoteIndex } from "./analyse-note.ts";

/**
 * The notes as a query scans them: each kind of number of all notes in one array, so that memory is read from front to back.
 * What belongs to note `i` is from `…At[i]` up to `…At[i + 1]`.
 */
/** What is known of words by their numbers; `stems` is how many stems there are. */
export type Words = { stems: number; stemOf(word: number): number; rowOf(word: number): number };

export type NotePack<N> = {
  notes: readonly N[];
  lengths: Float32Array;
  words: Int32Array;
  wordsAt: Uint32Array;
  vectors: Int8Array;
  vectorsAt: Uint32Array;
  /** Numbers of the notes that have words of stem `s`, ascending, and how often: from `havingAt[s]` up to `havingEnd[s]`. */
  having: Uint32Array;
  counts: Uint8Array;
  havingAt: Uint32Array;
  havingEnd: Uint32Array;
  rowOf(word: number): number;
};

/** Notes that were loaded lie right already; others are moved, and then use the pack's memory instead of their own. */
export function packNotes<N extends NoteIndex>(notes: readonly N[], known: Words): NotePack<N> {
  const words = joined(notes.map((note) => note.words), Int32Array);
  const vectors = joined(notes.map((note) => note.vectors), Int8Array);
  notes.forEach((note, i) => {
    note.words = words.part(i);
    note.vectors = vectors.part(i);
  });
  return {
    notes, lengths: Float32Array.from(notes, (note) => note.length), words: words.all, wordsAt: words.at, vectors: vectors.all, vectorsAt: vectors.at,
    ...byStem(notes, words.all, known), rowOf: known.rowOf,
  };
}

/** Turns words by note into notes by stem: counts first, so that each finds its place at once. */
function byStem(notes: readonly NoteIndex[], words: Int32Array, { stems, stemOf }: Words): Pick<NotePack<unknown>, "having" | "counts" | "havingAt" | "havingEnd"> {
  const havingAt = new Uint32Array(stems + 1);
  for (let i = 0; i < words.length; i++) {
    const stem = stemOf((words[i] as number) & ~IN_TITLE);
    havingAt[stem + 1] = (havingAt[stem + 1] as number) + 1;
  }
  for (let stem = 1; stem < havingAt.length; stem++) havingAt[stem] = (havingAt[stem] as number) + (havingAt[stem - 1] as number);
  const havingEnd = havingAt.slice(0, -1);
  const having = new Uint32Array(words.length);
  const counts = new Uint8Array(words.length);
  for (let i = 0; i < notes.length; i++) {
    const note = notes[i] as NoteIndex;
    for (let w = 0; w < note.words.length; w++) {
      const stem = stemOf((note.words[w] as number) & ~IN_TITLE);
      let at = havingEnd[stem] as number;
      // Another form of a word that the note has already.
      if (at > (havingAt[stem] as number) && having[at - 1] === i) at--;
      else havingEnd[stem] = at + 1;
      having[at] = i;
      counts[at] = Math.min(255, (counts[at] as number) + (note.counts[w] as number));
    }
  }
  return { having, counts, havingAt: havingAt.subarray(0, stems), havingEnd };
}

type Numbers = Int32Array | Int8Array;
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
