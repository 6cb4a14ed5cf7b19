/** Numbers in [0, 1) from a seed that the test prints: all of them under CRU_TEST_LONG=1, else the first few. Set TEST_SEED to see a failure again. */
export function sample(whole: number, few: number, name: string): { values: number[]; seed: number } {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = mulberry(seed ^ [...name].reduce((n, c) => (n * 31 + c.charCodeAt(0)) | 0, 7));
  const count = process.env.CRU_TEST_LONG === "1" ? whole : few;
  return { values: Array.from({ length: count }, () => random()), seed };
}

function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
