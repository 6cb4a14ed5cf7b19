import { describe, expect, it } from "vitest";
import { openBudget } from "../../src/agent/budget.ts";

const nothing = { usd: 0, tokens: 0, estimated: false };

describe("budget", () => {
  it("money set aside by one call is not there for another, until it is settled", () => {
    const budget = openBudget({ usd: 1, tokens: null }, nothing, () => {});
    const first = budget.reserve({ usd: 0.6, tokens: 10 });
    expect(budget.reserve({ usd: 0.6, tokens: 10 })).toEqual({ over: "usd", limit: 1, spent: 0 });
    if ("settle" in first) first.settle({ usd: 0.1, tokens: { input: 5, output: 5 } });
    expect(budget.reserve({ usd: 0.6, tokens: 10 })).toHaveProperty("settle");
    expect(budget.spent()).toEqual({ usd: 0.1, tokens: 10, estimated: false });
  });

  it("an unknown price counts as what was set aside and is labelled", () => {
    const budget = openBudget({ usd: 1, tokens: null }, nothing, () => {});
    const held = budget.reserve({ usd: 0.5, tokens: 100 });
    if ("settle" in held) held.settle({ usd: null, tokens: { input: 40, output: 10 } });
    expect(budget.spent()).toEqual({ usd: 0.25, tokens: 50, estimated: true });
  });

  it("warns once at 80 %, and again only after a person allowed more", () => {
    const shares: number[] = [];
    const budget = openBudget({ usd: null, tokens: 100 }, nothing, (share) => shares.push(share));
    const use = (tokens: number): void => {
      const held = budget.reserve({ usd: 0, tokens });
      if ("settle" in held) held.settle({ usd: 0, tokens: { input: tokens, output: 0 } });
    };
    use(79);
    expect(shares).toEqual([]);
    use(1);
    use(5);
    expect(shares).toEqual([0.8]);
    expect(budget.reserve({ usd: 0, tokens: 20 })).toEqual({ over: "tokens", limit: 100, spent: 85 });
    budget.extend();
    use(80);
    expect(shares).toEqual([0.8, 0.825]);
  });
});
