import { IN_TITLE, UNIT } from "./analyse-note.ts";
import { type NotePack, SIEVE, sieveRow } from "./pack-notes.ts";
import type { WordVectors } from "./word-vectors.ts";

export type QueryWord = { term: number; row: number; /** Cosines with other rows, as far as they were asked for; the rest is 0. */ likeness: Float32Array };

export type Query = {
  words: readonly QueryWord[];
  /** Undefined when its meaning is not known: only words count then. */
  vector: Int8Array | undefined;
};

/** `exact`: BM25 as a share of what the query could reach; `near`: words of like meaning; `whole`: cosine with the best section. */
export type Ranked<N> = { note: N; score: number; exact: number; near: number; whole: number };

export type Weights = { exact: number; near: number; whole: number };

/** Chosen on the tuning half of `test/kiln/queries.json`. */
export const WEIGHTS: Weights = { exact: 0.5, near: 1, whole: 1 };

/** A true cosine of exactly 0 is only worked out again. */
const UNSEEN = 0;
const CANDIDATES = 60;
const SPREAD = 2 ** -32;
const K1 = 1.2;
const B = 0.75;
/** Cosines of unlike words are spread around zero; below this they say nothing. */
const LEAST_LIKENESS = 0.3;
const TITLE_BONUS = 1.5;

/** Best first. Everything is scanned for words and meaning; likeness word by word is worked out for the best of both. */
export function rankNotes<N>(query: Query, pack: NotePack<N>, words: WordVectors | undefined, weights: Weights = WEIGHTS): Ranked<N>[] {
  const { exact, importance } = exactScores(query, pack);
  const whole = wholeScores(query, pack);
  const near = words === undefined || weights.near === 0 ? () => 0 : likeness(query, importance, pack, words);
  const chosen = new Set([...best(exact, CANDIDATES), ...best(whole, CANDIDATES)]);
  const total = weights.exact + weights.near + weights.whole;
  const ranked: Ranked<N>[] = [];
  for (const i of chosen) {
    const parts = { exact: exact[i] ?? 0, near: near(i), whole: whole[i] ?? 0 };
    const score = (weights.exact * parts.exact + weights.near * parts.near + weights.whole * parts.whole) / total;
    if (score > 0) ranked.push({ note: pack.notes[i] as N, score, ...parts });
  }
  return ranked.sort((a, b) => b.score - a.score);
}

function exactScores(query: Query, { notes, lengths, terms, counts, termsAt, sieve }: NotePack<unknown>): { exact: Float32Array; importance: number[] } {
  const width = query.words.length;
  const found = new Uint8Array(notes.length * width);
  const wanted = Int32Array.from(query.words, (word) => word.term);
  const containing = new Uint32Array(width);
  const blocks = sieve.length / SIEVE;
  for (let w = 0; w < width; w++) {
    const term = wanted[w] as number;
    const row = sieveRow(term) * blocks;
    for (let block = 0; block < blocks; block++) {
      for (let bits = sieve[row + block] as number; bits !== 0; bits &= bits - 1) {
        const i = block * 32 + 31 - Math.clz32(bits & -bits);
        const at = indexOf(term, terms, termsAt[i] as number, termsAt[i + 1] as number);
        if (at < 0) continue;
        found[i * width + w] = counts[at] as number;
        containing[w] = (containing[w] as number) + 1;
      }
    }
  }
  const all = lengths.reduce((sum, length) => sum + length, 0);
  const importance = Array.from(containing, (n) => Math.log(1 + (notes.length - n + 0.5) / (n + 0.5)));
  const reachable = importance.reduce((a, b) => a + b, 0) * (K1 + 1) || 1;
  const average = all / (notes.length || 1) || 1;
  const exact = new Float32Array(notes.length);
  for (let i = 0, cell = 0; i < notes.length; i++) {
    const norm = K1 * (1 - B + (B * (lengths[i] as number)) / average);
    let score = 0;
    for (let w = 0; w < width; w++, cell++) {
      const count = found[cell] as number;
      if (count > 0) score += ((importance[w] as number) * count * (K1 + 1)) / (count + norm);
    }
    exact[i] = Math.min(1, score / reachable);
  }
  return { exact, importance };
}

/** Hashes are spread evenly: the first guess is a few steps off. */
function indexOf(term: number, terms: Int32Array, from: number, end: number): number {
  let at = (from + (term * SPREAD + 0.5) * (end - from)) | 0;
  while (at < end && (terms[at] as number) < term) at++;
  while (at > from && (terms[at - 1] as number) >= term) at--;
  return at < end && terms[at] === term ? at : -1;
}

function wholeScores(query: Query, { notes, vectors, vectorsAt }: NotePack<unknown>): Float32Array {
  const scores = new Float32Array(notes.length);
  const wanted = query.vector;
  if (wanted === undefined) return scores;
  const size = wanted.length;
  const lengths = UNIT * UNIT * size;
  for (let i = 0; i < notes.length; i++) {
    const end = vectorsAt[i + 1] as number;
    let most = 0;
    for (let at = vectorsAt[i] as number; at + size <= end; at += size) {
      const product = dot(wanted, 0, vectors, at, size);
      if (product > most) most = product;
    }
    scores[i] = Math.min(1, most / lengths);
  }
  return scores;
}

/** For each word of the query the likest word of the note, weighed by how rare the query's word is here; long notes get no credit for length. */
function likeness(query: Query, importance: readonly number[], pack: NotePack<unknown>, words: WordVectors): (note: number) => number {
  const { vectors, inverseNorms, dimensions } = words;
  const asked = query.words.map((word, w) => ({ ...word, weight: importance[w] ?? 0 })).filter((word) => word.row >= 0);
  const reachable = asked.reduce((sum, word) => sum + word.weight, 0) || 1;
  return (note) => {
    const from = pack.wordsAt[note] as number;
    const end = pack.wordsAt[note + 1] as number;
    let score = 0;
    for (const { term, row: wanted, likeness, weight } of asked) {
      let most = indexOf(term, pack.terms, pack.termsAt[note] as number, pack.termsAt[note + 1] as number) >= 0 ? 1 : 0;
      for (let i = from; i < end; i++) {
        const marked = pack.words[i] as number;
        const row = marked & ~IN_TITLE;
        let cosine = likeness[row] as number;
        if (cosine === UNSEEN) {
          cosine = dot(vectors, wanted * dimensions, vectors, row * dimensions, dimensions) * (inverseNorms[wanted] as number) * (inverseNorms[row] as number);
          likeness[row] = cosine;
        }
        if (cosine < LEAST_LIKENESS) continue;
        const worth = marked >= IN_TITLE ? cosine * TITLE_BONUS : cosine;
        if (worth > most) most = worth;
      }
      score += weight * most;
    }
    return (score / reachable) * Math.min(1, (40 / Math.max(1, end - from)) ** 0.25);
  };
}

/** Four at a time: this loop is most of what a query costs. */
function dot(a: Int8Array, aFrom: number, b: Int8Array, bFrom: number, size: number): number {
  let w = 0;
  let x = 0;
  let y = 0;
  let z = 0;
  let k = 0;
  for (; k + 3 < size; k += 4) {
    w = (w + Math.imul(a[aFrom + k] as number, b[bFrom + k] as number)) | 0;
    x = (x + Math.imul(a[aFrom + k + 1] as number, b[bFrom + k + 1] as number)) | 0;
    y = (y + Math.imul(a[aFrom + k + 2] as number, b[bFrom + k + 2] as number)) | 0;
    z = (z + Math.imul(a[aFrom + k + 3] as number, b[bFrom + k + 3] as number)) | 0;
  }
  for (; k < size; k++) w = (w + Math.imul(a[aFrom + k] as number, b[bFrom + k] as number)) | 0;
  return (w + x + y + z) | 0;
}

/** Indexes of about the `count` highest positive scores (all between 0 and 1), in no order. Counting beats sorting here. */
function best(scores: Float32Array, count: number): number[] {
  const buckets = new Uint32Array(BUCKETS + 1);
  for (let i = 0; i < scores.length; i++) {
    const bucket = ((scores[i] as number) * BUCKETS) | 0;
    buckets[bucket] = (buckets[bucket] as number) + 1;
  }
  let least = BUCKETS;
  for (let left = count - (buckets[least] as number); left > 0 && least > 0; left -= buckets[least] as number) least--;
  const chosen: number[] = [];
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i] as number;
    if (score > 0 && ((score * BUCKETS) | 0) >= least) chosen.push(i);
  }
  return chosen;
}

const BUCKETS = 4096;
