import type { Tokens } from "../contract/usage.ts";
import { modelId } from "./provider.ts";
import { PRICE_TABLE, type Price, type PriceTable } from "./price-table.ts";

const MILLION = 1_000_000;

/** What a call cost; null when the price of the model is unknown. */
export function costOf(model: string, usage: Tokens, table: PriceTable = PRICE_TABLE): number | null {
  const price = priceOf(model, table);
  return price === undefined ? null : cost(price, usage, table);
}

/** The most that a call can cost. An unknown price counts as the dearest known, and the sum is marked estimated. */
export function reserveCost(model: string, tokensIn: number, maxOut: number, table: PriceTable = PRICE_TABLE): { usd: number; estimated: boolean } {
  const price = priceOf(model, table);
  // Every call may write its whole prompt to the cache, which is dearer than reading it plain.
  const usage = { input: tokensIn, output: maxOut, cache_write: tokensIn };
  return { usd: cost(price ?? dearestPrice(table), usage, table), estimated: price === undefined };
}

/** What a call may use at most, for setting it aside before it is made. */
export function estimateCall(model: string, tokensIn: number, tokensOut: number): { usd: number; tokens: number } {
  return { usd: reserveCost(model, tokensIn, tokensOut).usd, tokens: tokensIn + tokensOut };
}

/** What an unknown model is taken to cost, with long prompts. */
export function dearestPrice(table: PriceTable = PRICE_TABLE): Price {
  const all = Object.values(table.models).flatMap((p) => [p, ...(p.above === undefined ? [] : [p.above])]);
  return { input: Math.max(0, ...all.map((p) => p.input)), output: Math.max(0, ...all.map((p) => p.output)) };
}

export function priceOf(model: string, table: PriceTable = PRICE_TABLE): Price | undefined {
  const id = modelId(model);
  if (Object.hasOwn(table.models, id)) return table.models[id];
  const bare = id.replace(/[-@]\d{8}$|-latest$/, "");
  if (Object.hasOwn(table.models, bare)) return table.models[bare];
  const family = Object.keys(table.models).find((name) => name.endsWith("*") && id.startsWith(name.slice(0, -1)));
  return family === undefined ? undefined : table.models[family];
}

function cost(price: Price, usage: Tokens, table: PriceTable): number {
  const tier = price.above !== undefined && usage.input > price.above.prompt ? price.above : price;
  const read = usage.cache_read ?? 0;
  const write = usage.cache_write ?? 0;
  const plain = Math.max(0, usage.input - read - write);
  return ((plain + read * table.cacheRead + write * table.cacheWrite) * tier.input + usage.output * tier.output) / MILLION;
}
