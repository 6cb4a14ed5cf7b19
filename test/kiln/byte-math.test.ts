import { describe, expect, it } from "vitest";
import { createByteMath, MOST_ADDED, MOST_CHOSEN } from "../../src/kiln/byte-math.ts";

const COUNT = 70;
/** 500 of the largest do not fit into one go. */
const SIZES = [1, 7, 8, 16, 100, 257, 1536];

/** Bytes of every size and sign, the same each time. */
function bytes(length: number, seed: number): Int8Array {
  let state = seed;
  return Int8Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state >> 24;
  });
}

function product(a: Int8Array, aFrom: number, b: Int8Array, bFrom: number, size: number): number {
  let sum = 0;
  for (let k = 0; k < size; k++) sum += (a[aFrom + k] ?? 0) * (b[bFrom + k] ?? 0);
  return sum;
}

describe.each(SIZES)("vectors of %i bytes", (size) => {
  const math = createByteMath(COUNT * size, size);
  const table = bytes(COUNT * size, size);
  math.table.set(table);

  it("are added up with their weights, to what was there", () => {
    math.sum.fill(5);
    for (let i = 0; i < COUNT; i++) {
      math.places[i] = i * size;
      math.weights[i] = i / 8;
    }
    math.add(COUNT);
    const expected = Array.from(math.sum, (_, k) => 5 + Array.from({ length: COUNT }, (_, i) => (i / 8) * (table[i * size + k] ?? 0)).reduce((a, b) => a + b, 0));
    expect([...math.sum]).toEqual(expected);
    math.add(0);
    expect([...math.sum]).toEqual(expected);
  });

  it("are multiplied with one other, also when they are too many for one go", () => {
    const one = bytes(size, 3);
    const others = bytes(size * 500, 4);
    const found = new Float32Array(500);
    math.products(one, others, found);
    expect([...found]).toEqual(Array.from(found, (_, i) => Math.fround(product(one, 0, others, i * size, size))));
  });

  it("of the table are multiplied with some chosen ones", () => {
    const places = Array.from({ length: MOST_CHOSEN + 3 }, (_, i) => i * size);
    const found = math.productsAt(69 * size, math.chosen(places));
    expect([...found]).toEqual(places.slice(0, MOST_CHOSEN).map((place) => product(table, 69 * size, table, place, size)));
  });
});

it("has room for as many vectors at once as it says", () => {
  const math = createByteMath(16, 16);
  math.table.fill(1);
  math.places.fill(0);
  math.weights.fill(1);
  math.add(MOST_ADDED);
  expect([...math.sum]).toEqual(Array<number>(16).fill(MOST_ADDED));
});
