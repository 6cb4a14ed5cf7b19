import { MOST_CHOSEN } from "./byte-math.ts";
import type { WordVectors } from "./word-vectors.ts";

/** Cosines of some words with others, each worked out when it is first asked for. */
export type Likeness = {
  /** How many words are compared; those beyond are like nothing. */
  width: number;
  /** Where in `cosines` those of a row begin, `width` of them. */
  of(row: number): number;
  cosines: Float32Array;
};

/** `rows` of the words to compare with. */
export function createLikeness(rows: readonly number[], words: WordVectors): Likeness {
  const { math, inverseNorms, placeOf } = words;
  const asked = rows.slice(0, MOST_CHOSEN);
  const width = asked.length;
  const known = new Uint16Array(words.rows);
  let used = 0;
  const chosen = math.chosen(asked.map(placeOf));
  const likeness: Likeness = {
    width,
    cosines: new Float32Array(2048 * width),
    of(row) {
      const before = known[row] as number;
      if (before > 0) return (before - 1) * width;
      const at = used * width;
      if (at + width > likeness.cosines.length) likeness.cosines = doubled(likeness.cosines);
      const products = math.productsAt(placeOf(row), chosen);
      for (let w = 0; w < width; w++) likeness.cosines[at + w] = (products[w] as number) * (inverseNorms[asked[w] as number] as number) * (inverseNorms[row] as number);
      // Rows beyond what the number can say are worked out each time, in the last place.
      if (used < 0xffff) known[row] = ++used;
      return at;
    },
  };
  return likeness;
}

function doubled(array: Float32Array): Float32Array {
  const larger = new Float32Array(array.length * 2);
  larger.set(array);
  return larger;
}
