/** Counters by small numbers that forget in the time that they were used. */
export type Tally = {
  counts: Int32Array;
  /** The first `used` are the numbers that were counted. */
  list: Int32Array;
  used: number;
  add(number: number, times: number): void;
  /** Writes keys and counts (at most 255 each) by ascending keys; the sum of the counts. Keys are hashes: spread evenly over 32 bits. */
  sorted(keyOf: (number: number) => number, keys: Int32Array, counts: Uint8Array): number;
  clear(): void;
};

export function createTally(size: number): Tally {
  let buckets = new Int32Array(2048);
  const tally: Tally = {
    counts: new Int32Array(size),
    list: new Int32Array(1024),
    used: 0,
    add(number, times) {
      if (number >= tally.counts.length) tally.counts = grown(tally.counts, number);
      const before = tally.counts[number] as number;
      tally.counts[number] = before + times;
      if (before > 0) return;
      if (tally.used >= tally.list.length) tally.list = grown(tally.list, tally.used);
      tally.list[tally.used++] = number;
    },
    sorted(keyOf, keys, counts) {
      // Each key goes next to its place at once, then few have to move: a general sort takes three times as long.
      const { list, used } = tally;
      const shift = Math.clz32(used);
      const most = 1 << (32 - shift);
      if (most + 1 > buckets.length) buckets = new Int32Array(most * 2);
      buckets.fill(0, 0, most + 1);
      for (let i = 0; i < used; i++) {
        const bucket = (((keyOf(list[i] as number) ^ SIGN) >>> shift) + 1) | 0;
        buckets[bucket] = (buckets[bucket] as number) + 1;
      }
      for (let b = 1; b <= most; b++) buckets[b] = (buckets[b] as number) + (buckets[b - 1] as number);
      let sum = 0;
      for (let i = 0; i < used; i++) {
        const number = list[i] as number;
        const key = keyOf(number);
        const bucket = (key ^ SIGN) >>> shift;
        const count = Math.min(255, tally.counts[number] as number);
        const at = buckets[bucket] as number;
        buckets[bucket] = at + 1;
        keys[at] = key;
        counts[at] = count;
        sum += count;
      }
      settle(keys, counts);
      return sum;
    },
    clear() {
      for (let i = 0; i < tally.used; i++) tally.counts[tally.list[i] as number] = 0;
      tally.used = 0;
    },
  };
  return tally;
}

const SIGN = 0x8000_0000 | 0;

/** Insertion sort. */
function settle(keys: Int32Array, counts: Uint8Array): void {
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as number;
    if ((keys[i - 1] as number) <= key) continue;
    const count = counts[i] as number;
    let at = i;
    for (; at > 0 && (keys[at - 1] as number) > key; at--) {
      keys[at] = keys[at - 1] as number;
      counts[at] = counts[at - 1] as number;
    }
    keys[at] = key;
    counts[at] = count;
  }
}

function grown(array: Int32Array, needed: number): Int32Array {
  const larger = new Int32Array(Math.max(needed + 1, array.length * 2));
  larger.set(array);
  return larger;
}
