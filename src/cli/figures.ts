import { usd } from "../lib/usd.ts";

/** Figures as people read them; what is not known is said to be unknown, never 0. */
export function count(n: number): string {
  return Math.max(0, Math.round(n)).toLocaleString("en-US");
}

/** 950, 12.3k, 4.5M: where there is little room. */
export function shortCount(n: number): string {
  if (n < 1000) return count(n);
  const [unit, letter] = n < 999_950 ? [1000, "k"] : [1_000_000, "M"];
  return `${(n / unit).toFixed(1).replace(/\.0$/, "")}${letter}`;
}

export function cost(amount: number | null): string {
  return amount === null ? "unknown" : usd(amount);
}

export function milliseconds(ms: number | null): string {
  return ms === null ? "time unknown" : `${count(ms)} ms`;
}
