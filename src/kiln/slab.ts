/** Many small arrays in few buffers: tens of thousands of buffers of their own cost more than what is in them. */
export type Slab = {
  integers(length: number): Int32Array;
  bytes(length: number): Int8Array;
  counts(length: number): Uint8Array;
};

const SIZE = 1 << 20;

export function createSlab(): Slab {
  let buffer = new ArrayBuffer(0);
  let used = 0;
  let last = 0;
  const take = (length: number): ArrayBuffer => {
    if (used + length > buffer.byteLength) {
      buffer = new ArrayBuffer(Math.max(SIZE, length));
      used = 0;
    }
    last = used;
    used += (length + 3) & ~3;
    return buffer;
  };
  return {
    integers: (length) => new Int32Array(take(length * 4), last, length),
    bytes: (length) => new Int8Array(take(length), last, length),
    counts: (length) => new Uint8Array(take(length), last, length),
  };
}
