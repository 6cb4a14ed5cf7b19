/** Counters by small numbers that forget in the time that they were used. */
export type Tally = {
  counts: Int32Array;
  /** The first `used` are the numbers that were counted. */
  list: Int32Array;
  used: number;
  add(number: number, times: number): void;
  clear(): void;
};

export function createTally(size: number): Tally {
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
