import { IN_TITLE, UNIT } from "./analyse-note.ts";
import type { ByteMath } from "./byte-math.ts";
import type { Likeness } from "./likeness.ts";
import type { NotePack } from "./pack-notes.ts";

export type Query = {
  words: readonly { stem: number; row: number }[];
  /** With the rows of those words that have one, in their order; undefined without word vectors. */
  likeness: Likeness | undefined;
  /** Undefined when its meaning is not known: only words count then. */
  vector: Int8Array | undefined;
};

/** `exact`: BM25 as a share of what the query could reach; `near`: words of like meaning; `whole`: cosine with the best section. */
export type Ranked<N> = { note: N; score: number; exact: number; near: number; whole: number };

export type Weights = { exact: number; near: number; whole: number };

/** Chosen on the tuning half of `test/kiln/queries.json`. */
export const WEIGHTS: Weights = { exact: 0.5, near: 1, whole: 1 };

const CANDIDATES = 60;
const K1 = 1.2;
const B = 0.75;
/** Cosines of unlike words are spread around zero; below this they say nothing. */
const LEAST_LIKENESS = 0.3;
const TITLE_BONUS = 1.5;

/** Best first. Everything is scanned for words and meaning; likeness word by word is worked out for the best of both. */
export function rankNotes<N>(query: Query, pack: NotePack<N>, math: ByteMath, weights: Weights = WEIGHTS): Ranked<N>[] {
  const importance = query.words.map(({ stem }) => importanceOf(stem, pack));
  const exact = exactScores(query, importance, pack);
  const whole = wholeScores(query, pack, math);
  const near = query.likeness === undefined || weights.near === 0 ? () => 0 : nearScores(query, query.likeness, importance, pack);
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

function importanceOf(stem: number, { notes, havingAt, havingEnd }: NotePack<unknown>): number {
  const count = (havingEnd[stem] ?? 0) - (havingAt[stem] ?? 0);
  return Math.log(1 + (notes.length - count + 0.5) / (count + 0.5));
}

function exactScores(query: Query, importance: readonly number[], { notes, lengths, having, counts, havingAt, havingEnd }: NotePack<unknown>): Float32Array {
  const scores = new Float32Array(notes.length);
  const reachable = importance.reduce((a, b) => a + b, 0) || 1;
  const average = lengths.reduce((sum, length) => sum + length, 0) / (notes.length || 1) || 1;
  query.words.forEach(({ stem }, w) => {
    const share = (importance[w] ?? 0) / reachable;
    const end = havingEnd[stem] ?? 0;
    for (let at = havingAt[stem] ?? 0; at < end; at++) {
      const i = having[at] as number;
      const count = counts[at] as number;
      const norm = K1 * (1 - B + (B * (lengths[i] as number)) / average);
      scores[i] = (scores[i] as number) + (share * count) / (count + norm);
    }
  });
  return scores;
}

function wholeScores(query: Query, { notes, vectors, vectorsAt }: NotePack<unknown>, math: ByteMath): Float32Array {
  const scores = new Float32Array(notes.length);
  const wanted = query.vector;
  if (wanted === undefined || wanted.length === 0) return scores;
  const size = wanted.length;
  const lengths = UNIT * UNIT * size;
  const products = new Float32Array(Math.floor(vectors.length / size));
  math.products(wanted, vectors, products);
  for (let i = 0; i < notes.length; i++) {
    const end = (vectorsAt[i + 1] as number) / size;
    let most = 0;
    for (let at = (vectorsAt[i] as number) / size; at < end; at++) if ((products[at] as number) > most) most = products[at] as number;
    scores[i] = Math.min(1, most / lengths);
  }
  return scores;
}

/** For each word of the query the likest word of the note, weighed by how rare the query's word is here; long notes get no credit for length. */
function nearScores(query: Query, likeness: Likeness, importance: readonly number[], pack: NotePack<unknown>): (note: number) => number {
  const asked = query.words.map(({ stem, row }, w) => ({ stem, row, weight: importance[w] ?? 0 })).filter(({ row }) => row >= 0).slice(0, likeness.width);
  const reachable = asked.reduce((sum, word) => sum + word.weight, 0) || 1;
  const most = new Float32Array(asked.length);
  return (note) => {
    const from = pack.wordsAt[note] as number;
    const end = pack.wordsAt[note + 1] as number;
    let known = 0;
    asked.forEach(({ stem }, w) => (most[w] = has(note, stem, pack) ? 1 : 0));
    for (let i = from; i < end; i++) {
      const marked = pack.words[i] as number;
      const row = pack.rowOf(marked & ~IN_TITLE);
      if (row < 0) continue;
      known++;
      const at = likeness.of(row);
      const { cosines } = likeness;
      const bonus = marked >= IN_TITLE ? TITLE_BONUS : 1;
      for (let w = 0; w < most.length; w++) {
        const cosine = cosines[at + w] as number;
        if (cosine >= LEAST_LIKENESS && cosine * bonus > (most[w] as number)) most[w] = cosine * bonus;
      }
    }
    const score = asked.reduce((sum, { weight }, w) => sum + weight * (most[w] as number), 0);
    return (score / reachable) * Math.min(1, (40 / Math.max(1, known)) ** 0.25);
  };
}

function has(note: number, stem: number, { having, havingAt, havingEnd }: NotePack<unknown>): boolean {
  const end = havingEnd[stem] ?? 0;
  let [low, high] = [havingAt[stem] ?? 0, end];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((having[middle] as number) < note) low = middle + 1;
    else high = middle;
  }
  return low < end && having[low] === note;
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
