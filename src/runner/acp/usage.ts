import { costOf } from "../../llm/price.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { amount, type Message, record, text } from "../message.ts";
import { tokensOf, type Usage } from "../usage.ts";

/** The agent's own cost counts over its whole session; this is what was told of it already. */
const WHOLE = "session";

export type Meter = {
  /** What is priced, once it is known. */
  model(name: string): void;
  update(update: Message): void;
  /** What this process has cost so far by the agent's own words; null when it says nothing. */
  spentUsd(): number | null;
  /** One prompt's end. Without an answer the agent has used something, but nobody knows how much. */
  turn(answer: Message | undefined): Usage;
};

export function openMeter(memory: AgentMemory): Meter {
  let total: number | null = null;
  let name = "unknown";
  const earlier = memory.counted[WHOLE]?.cost_usd ?? 0;
  /** What the total had reached when this process began, by the agent's way to count; undefined until that is clear. */
  let before: number | undefined = earlier === 0 ? 0 : undefined;
  let told = 0;

  /** The protocol leaves open whether a resumed session counts on or anew; what the tokens would cost says which. */
  const startedAt = (cost: number, guess: number | null): number => {
    if (cost < earlier) return 0;
    return guess === null || Math.abs(cost - earlier - guess) <= Math.abs(cost - guess) ? earlier : 0;
  };

  return {
    model: (given) => void (name = given),
    update(update) {
      const cost = record(update.cost);
      if (cost.currency === "USD" && typeof cost.amount === "number") total = amount(cost.amount);
      name = text(record(update._meta)["_claude/model"]) || name;
    },
    spentUsd: () => (total === null ? null : total - (before ?? Math.min(earlier, total))),
    turn(answer) {
      const use = record(answer?.usage);
      const [input, output, read, write] = [amount(use.inputTokens), amount(use.outputTokens), amount(use.cachedReadTokens), amount(use.cachedWriteTokens)];
      // Some count what came from a cache as part of the input, some beside it; the sum tells.
      const beside = amount(use.totalTokens) >= input + output + read + write;
      const tokens = beside ? tokensOf(input, output, read, write) : tokensOf(Math.max(0, input - read - write), output, read, write);
      const guess = input + output === 0 ? null : costOf(name, tokens);
      if (total === null) return { model: name, tokens, costUsd: guess, estimated: true };
      before ??= startedAt(total, guess);
      const own = Math.max(0, total - before - told);
      told += own;
      memory.counted[WHOLE] = { input: 0, output: 0, cache_read: 0, cache_write: 0, cost_usd: total };
      memory.save();
      return own > 0 || answer !== undefined ? { model: name, tokens, costUsd: own, estimated: false } : { model: name, tokens, costUsd: guess, estimated: true };
    },
  };
}
