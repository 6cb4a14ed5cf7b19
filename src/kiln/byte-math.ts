/**
 * Sums and products of vectors of bytes, many numbers at a time. WebAssembly, because JavaScript has no such instructions: adding up meaning
 * was a quarter of indexing, products half of a query.
 */
export type ByteMath = {
  /** Room of the size that was asked for, for vectors that stay. */
  table: Uint8Array<ArrayBuffer>;
  /** Adds vectors of the table to `sum`, each with its weight: `places` are where they begin, the first `count` of them. */
  places: Int32Array;
  weights: Float32Array;
  sum: Float32Array;
  add(count: number): void;
  /** Products of one vector with those that lie one after the other in `others`. */
  products(one: Int8Array, others: Int8Array, into: Float32Array): void;
  /** Copies of vectors of the table, at most `MOST_CHOSEN`, as `productsAt` takes them. */
  chosen(places: readonly number[]): Int8Array;
  /** Products of a vector of the table with each of the chosen; good until the next call. */
  productsAt(place: number, chosen: Int8Array): Int32Array;
};

/** Of `places` and `weights`. */
export const MOST_ADDED = 1024;
/** Of `chosen`. */
export const MOST_CHOSEN = 64;
const WINDOW = 1 << 18;
const PAGE = 1 << 16;
/** What is read at once, at most. */
const BLOCK = 16;

/** `dimensions` of the vectors in the table. */
export function createByteMath(tableBytes: number, dimensions: number): ByteMath {
  const padded = Math.ceil(dimensions / BLOCK) * BLOCK;
  let end = 0;
  const room = (bytes: number): number => {
    const at = end;
    // Blocks are read past the end of a vector: what is there counts nothing, but it has to be there.
    end += Math.ceil((bytes + BLOCK) / 16) * 16;
    return at;
  };
  const at = { table: room(tableBytes), places: room(4 * MOST_ADDED), weights: room(4 * MOST_ADDED), sum: room(4 * padded), chosen: room(MOST_CHOSEN * padded), products: room(4 * WINDOW), one: room(WINDOW), window: room(WINDOW) };
  const memory = new WebAssembly.Memory({ initial: Math.ceil(end / PAGE) });
  const { add, dots } = new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.from(moduleBytes())), { m: { m: memory } }).exports;
  const ints = (from: number, length: number): Int32Array => new Int32Array(memory.buffer, from, length);
  const bytes = (from: number, length: number): Int8Array => new Int8Array(memory.buffer, from, length);
  const chosenRoom = bytes(at.chosen, MOST_CHOSEN * padded);
  const allProducts = ints(at.products, WINDOW);
  return {
    table: new Uint8Array(memory.buffer, at.table, tableBytes),
    places: ints(at.places, MOST_ADDED),
    weights: new Float32Array(memory.buffer, at.weights, MOST_ADDED),
    sum: new Float32Array(memory.buffer, at.sum, dimensions),
    add: (count) => add(at.places, at.weights, count, at.sum, padded),
    products(one, others, into) {
      const size = one.length;
      if (size === 0 || size > WINDOW - BLOCK) return;
      bytes(at.one, size + BLOCK).fill(0).set(one);
      const most = Math.floor(WINDOW / size);
      for (let from = 0; from < into.length; from += most) {
        const count = Math.min(most, into.length - from);
        bytes(at.window, WINDOW).set(others.subarray(from * size, (from + count) * size));
        dots(at.one, at.window, size, count, size, at.products);
        into.set(allProducts.subarray(0, count), from);
      }
    },
    chosen(places) {
      const copies = new Int8Array(Math.min(places.length, MOST_CHOSEN) * padded);
      for (let i = 0; i * padded < copies.length; i++) copies.set(bytes(places[i] as number, dimensions), i * padded);
      return copies;
    },
    productsAt(place, chosen) {
      chosenRoom.set(chosen);
      const count = chosen.length / padded;
      dots(place, at.chosen, padded, count, dimensions, at.products);
      return allProducts.subarray(0, count);
    },
  };
}

/** What we use of it; Node's types leave it out. */
declare const WebAssembly: {
  Memory: new (size: { initial: number }) => { buffer: ArrayBuffer };
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: { m: { m: object } }) => { exports: { add: Add; dots: Dots } };
};

type Add = (places: number, weights: number, count: number, sum: number, dimensions: number) => void;
type Dots = (one: number, others: number, stride: number, count: number, dimensions: number, into: number) => void;

const I32 = 0x7f;
const V128 = 0x7b;
const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const number = (n: number): number[] => [0x41, n];
const simd = (...op: number[]): number[] => [0xfd, ...op];
const ADD = 0x6a;
const LOAD = [0x28, 2, 0];
const step = (local: number, by: number[]): number[] => [...get(local), ...by, ADD, ...set(local)];
const LOAD_BYTES = (offset: number): number[] => simd(0x01, 0, offset); // v128.load8x8_s
const SPLAT = simd(0x09, 0, 0); // v128.load32_splat
const LOAD_ALL = (offset: number): number[] => simd(0x00, 0, offset);
const STORE_ALL = (offset: number): number[] => simd(0x0b, 0, offset);
const HALVES = [simd(0xa7, 1), simd(0xa8, 1)] as const; // i32x4.extend_low_i16x8_s, …_high_…
const TO_FLOAT = simd(0xfa, 1);
const F_MUL = simd(0xe6, 1);
const F_ADD = simd(0xe4, 1);
const DOT = simd(0xba, 1);
const I_ADD = simd(0xae, 1);
const ZERO = simd(0x0c, ...Array<number>(16).fill(0));
const LANE = (lane: number): number[] => simd(0x1b, lane);
/** Runs while `more` is not zero, at least once. */
const loop = (body: number[], more: number[]): number[] => [0x03, 0x40, ...body, ...more, 0x0d, 0, 0x0b];
const less = (a: number, b: number): number[] => [...get(a), ...get(b), 0x49];
const unlessZero = (local: number, body: number[]): number[] => [...get(local), 0x04, 0x40, ...body, 0x0b];

/** Sixteen dimensions at a time: over all vectors, then the next sixteen. */
function addBody(): number[] {
  const [places, weights, count, sum, size, block, i, at, vector, weight] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
  const totals = [10, 11, 12, 13] as const;
  const item = (base: number): number[] => [...get(base), ...get(i), ...number(2), 0x74, ADD];
  const place = [...get(sum), ...get(block), ...number(2), 0x74, ADD];
  const each = (code: (total: number, quarter: number) => number[]): number[] => totals.flatMap(code);
  const into = (total: number, quarter: number): number[] => [
    ...(quarter % 2 === 0 ? [...get(at), ...LOAD_BYTES(quarter * 4), ...set(vector)] : []),
    ...get(total), ...get(vector), ...(HALVES[quarter % 2] as number[]), ...TO_FLOAT, ...get(weight), ...F_MUL, ...F_ADD, ...set(total),
  ];
  const sixteen = [
    ...each((total, quarter) => [...place, ...LOAD_ALL(quarter * 16), ...set(total)]), ...number(0), ...set(i),
    ...loop([...item(places), ...LOAD, ...get(block), ADD, ...set(at), ...item(weights), ...SPLAT, ...set(weight), ...each(into), ...step(i, number(1))], less(i, count)),
    ...each((total, quarter) => [...place, ...get(total), ...STORE_ALL(quarter * 16)]), ...step(block, number(BLOCK)),
  ];
  return body([[3, I32], [6, V128]], unlessZero(count, loop(sixteen, less(block, size))));
}

function dotsBody(): number[] {
  const [one, others, stride, count, size, into, block, sum] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
  const eight = [...get(sum), ...get(one), ...get(block), ADD, ...LOAD_BYTES(0), ...get(others), ...get(block), ADD, ...LOAD_BYTES(0), ...DOT, ...I_ADD, ...set(sum), ...step(block, number(8))];
  const lanes = [0, 1, 2, 3].flatMap((lane) => [...get(sum), ...LANE(lane), ...(lane === 0 ? [] : [ADD])]);
  const each = [
    ...ZERO, ...set(sum), ...number(0), ...set(block), ...loop(eight, less(block, size)),
    ...get(into), ...lanes, 0x36, 2, 0, ...step(into, number(4)), ...step(others, get(stride)), ...get(count), ...number(1), 0x6b, ...set(count),
  ];
  return body([[1, I32], [1, V128]], unlessZero(count, loop(each, get(count))));
}

function body(locals: [number, number][], code: number[]): number[] {
  return sized([locals.length, ...locals.flat(), ...code, 0x0b]);
}

function sized(bytes: number[]): number[] {
  return [(bytes.length & 0x7f) | 0x80, bytes.length >> 7, ...bytes];
}

function moduleBytes(): number[] {
  const section = (id: number, items: number[][]): number[] => [id, ...sized([items.length, ...items.flat()])];
  const name = (text: string): number[] => [text.length, ...new TextEncoder().encode(text)];
  const type = (parameters: number): number[] => [0x60, parameters, ...Array<number>(parameters).fill(I32), 0];
  return [
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, [type(5), type(6)]),
    ...section(2, [[...name("m"), ...name("m"), 2, 0, 0]]),
    ...section(3, [[0], [1]]),
    ...section(7, [[...name("add"), 0, 0], [...name("dots"), 0, 1]]),
    ...section(10, [addBody(), dotsBody()]),
  ];
}
