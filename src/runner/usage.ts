import type { Tokens } from "../contract/usage.ts";

/** What one model used. */
export type Usage = { model: string; tokens: Tokens; costUsd: number | null; estimated: boolean };

export function addUsage(all: readonly Usage[]): { tokens: Tokens; costUsd: number | null; estimated: boolean } {
  const sum = { input: 0, output: 0, cache_read: 0, cache_write: 0 };
  for (const { tokens } of all) {
    sum.input += tokens.input;
    sum.output += tokens.output;
    sum.cache_read += tokens.cache_read ?? 0;
    sum.cache_write += tokens.cache_write ?? 0;
  }
  const costUsd = all.some((u) => u.costUsd === null) ? null : all.reduce((total, u) => total + (u.costUsd ?? 0), 0);
  return { tokens: sum, costUsd, estimated: all.some((u) => u.estimated) };
}

/** Input is the whole prompt: what came from a cache and what went into one are parts of it. */
export function tokensOf(plain: number, output: number, cacheRead: number, cacheWrite: number): Tokens {
  return { input: plain + cacheRead + cacheWrite, output, cache_read: cacheRead, cache_write: cacheWrite };
}
