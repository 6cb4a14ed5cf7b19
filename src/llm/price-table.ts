/** USD per million tokens. `above` holds for calls whose whole prompt is longer than `prompt` tokens. */
export type Price = { input: number; output: number; above?: { prompt: number; input: number; output: number } };

/** `models`: an exact id, or an id without its date suffix (`claude-haiku-4-5` also prices `claude-haiku-4-5-20251001`); `*` at the end takes any rest. */
export type PriceTable = { asOf: string; cacheRead: number; cacheWrite: number; models: Record<string, Price> };

/** List prices of autumn 2026. A model that is not here has an unknown price, which is never zero. */
export const PRICE_TABLE: PriceTable = {
  asOf: "2026-11",
  cacheRead: 0.1,
  cacheWrite: 1.25,
  models: {
    "claude-opus-5-5": { input: 4, output: 20 },
    "claude-sonnet-5-5": { input: 2, output: 10 },
    "claude-haiku-5-5": { input: 0.1, output: 0.5, above: { prompt: 100_000, input: 0.5, output: 2.5 } },
    "claude-haiku-4-5": { input: 1, output: 5 },
    "claude-sonnet-4*": { input: 3, output: 15 },
    "claude-3-7-sonnet": { input: 3, output: 15 },
    "claude-3-5-sonnet": { input: 3, output: 15 },
  },
};
