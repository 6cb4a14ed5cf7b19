import { describe, expect, it } from "vitest";
import { costOf, dearestPrice, priceOf, reserveCost } from "../../src/llm/price.ts";
import { PRICE_TABLE } from "../../src/llm/price-table.ts";

const M = 1_000_000;

describe("prices", () => {
  it.each([
    ["opus", 4, 20],
    ["sonnet", 2, 10],
    ["claude-sonnet-5-5", 2, 10],
    ["anthropic/claude-sonnet-5-5", 2, 10],
    ["claude-haiku-4-5-20251001", 1, 5],
    ["claude-sonnet-4-5", 3, 15],
    ["claude-3-5-sonnet-latest", 3, 15],
  ])("of %s", (model, input, output) => {
    expect(costOf(model, { input: M, output: 0 })).toBeCloseTo(input, 9);
    expect(costOf(model, { input: 0, output: M })).toBeCloseTo(output, 9);
  });

  it("haiku is dearer when the whole prompt is over 100,000 tokens", () => {
    expect(costOf("haiku", { input: 100_000, output: 1000 })).toBeCloseTo((100_000 * 0.1 + 1000 * 0.5) / M, 12);
    expect(costOf("haiku", { input: 100_001, output: 1000, cache_read: 90_000 })).toBeCloseTo(((10_001 + 9000) * 0.5 + 1000 * 2.5) / M, 12);
  });

  it("cached parts cost a tenth to read and a quarter more to write", () => {
    expect(costOf("sonnet", { input: 100, output: 0, cache_read: 50, cache_write: 20 })).toBeCloseTo(((30 + 5 + 25) * 2) / M, 12);
  });

  it.each(["qwen3:8b", "local/x", "claude-opus-4-1", "constructor", "gpt-5"])("of %s is unknown, which is null and not zero", (model) => {
    expect(costOf(model, { input: 1, output: 1 })).toBeNull();
    expect(priceOf(model)).toBeUndefined();
  });

  it("a reservation is never less than the call can cost, and estimates an unknown price by the dearest", () => {
    const worst = costOf("sonnet", { input: 5000, output: 800, cache_write: 5000 });
    expect(reserveCost("sonnet", 5000, 800)).toEqual({ usd: worst, estimated: false });
    expect(reserveCost("local/x", 1000, 100)).toEqual({ usd: (1000 * 1.25 * 4 + 100 * 20) / M, estimated: true });
    expect(dearestPrice()).toEqual({ input: 4, output: 20 });
  });

  it("the table is dated, and another one can stand in", () => {
    expect(PRICE_TABLE.asOf).toMatch(/^\d{4}-\d{2}$/);
    const own = { asOf: "2027-01", cacheRead: 0, cacheWrite: 1, models: { "qwen3:8b": { input: 0, output: 0 } } };
    expect(costOf("local/qwen3:8b", { input: 5, output: 5 }, own)).toBe(0);
    expect(costOf("sonnet", { input: 5, output: 5 }, own)).toBeNull();
  });
});
