import type { Tokens } from "../contract/usage.ts";

export type Limits = { usd: number | null; tokens: number | null };
export type Estimate = { usd: number; tokens: number };
export type Spent = { usd: number; tokens: number; estimated: boolean };

/** One purse for a session with all its children: money is set aside before a call and settled after it. */
export type Budget = {
  /** Undefined when the call fits; else which limit it would pass. */
  reserve(estimate: Estimate): { settle(actual: { usd: number | null; tokens: Tokens }): void } | { over: "usd" | "tokens"; limit: number; spent: number };
  spent(): Spent;
  /** A person allowed as much again. */
  extend(): void;
};

const WARN_AT = 0.8;

export function openBudget(limits: Limits, already: Spent, onWarning: (share: number) => void): Budget {
  let { usd, tokens, estimated } = already;
  let [usdLimit, tokenLimit] = [limits.usd, limits.tokens];
  const held = new Set<Estimate>();
  let warned = false;
  const sum = (key: keyof Estimate): number => [...held].reduce((total, one) => total + one[key], 0);

  return {
    reserve(estimate) {
      if (usdLimit !== null && usd + sum("usd") + estimate.usd > usdLimit) return { over: "usd", limit: usdLimit, spent: usd };
      if (tokenLimit !== null && tokens + sum("tokens") + estimate.tokens > tokenLimit) return { over: "tokens", limit: tokenLimit, spent: tokens };
      held.add(estimate);
      return {
        settle(actual) {
          held.delete(estimate);
          const used = actual.tokens.input + actual.tokens.output;
          tokens += used;
          // An unknown price counts as what was set aside, in proportion to what was used.
          if (actual.usd === null) {
            estimated = true;
            usd += estimate.tokens === 0 ? 0 : estimate.usd * Math.min(1, used / estimate.tokens);
          } else usd += actual.usd;
          const share = Math.max(usdLimit === null ? 0 : usd / usdLimit, tokenLimit === null ? 0 : tokens / tokenLimit);
          if (share >= WARN_AT && !warned) {
            warned = true;
            onWarning(share);
          }
        },
      };
    },
    spent: () => ({ usd, tokens, estimated }),
    extend() {
      usdLimit = usdLimit === null ? null : usdLimit + (limits.usd ?? 0);
      tokenLimit = tokenLimit === null ? null : tokenLimit + (limits.tokens ?? 0);
      warned = false;
    },
  };
}
