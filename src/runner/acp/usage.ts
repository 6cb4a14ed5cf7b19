import { costOf } from "../../llm/price.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { amount, type Message, record, text } from "../message.ts";
import { tokensOf, type Usage } from "../usage.ts";

/** The agent's own cost counts over its whole session; this is what was told of it already. */
const WHOLE = "session";

export type Meter = {
  update(update: Message): void;
  /** What this process has cost so far by the agent's own words; null when it says nothing. */
  spentUsd(): number | null;
  /** One prompt's end. Without an answer the agent has used something, but nobody knows how much. */
  turn(answer: Message | undefined): Usage;
};

export function openMeter(memory: AgentMemory, model: string): Meter {
  let total: number | null = null;
  let name = model;
  const before = memory.counted[WHOLE]?.cost_usd ?? 0;
  let told = before;

  /** A total that went down belongs to a process that did not know the earlier ones. */
  const since = (seen: number): number | null => (total === null ? null : total >= seen ? total - seen : total);

  return {
    update(update) {
      const cost = record(update.cost);
      if (cost.currency === "USD" && typeof cost.amount === "number") total = amount(cost.amount);
      name = text(record(update._meta)["_claude/model"]) || name;
    },
    spentUsd: () => since(before),
    turn(answer) {
      const use = record(answer?.usage);
      const [input, output, read, write] = [amount(use.inputTokens), amount(use.outputTokens), amount(use.cachedReadTokens), amount(use.cachedWriteTokens)];
      // Some count what came from a cache as part of the input, some beside it; the sum tells.
      const beside = amount(use.totalTokens) >= input + output + read + write;
      const tokens = beside ? tokensOf(input, output, read, write) : tokensOf(Math.max(0, input - read - write), output, read, write);
      const own = since(told);
      if (total !== null) {
        told = total;
        memory.counted[WHOLE] = { input: 0, output: 0, cache_read: 0, cache_write: 0, cost_usd: total };
        memory.save();
      }
      if (own !== null && (own > 0 || answer !== undefined)) return { model: name, tokens, costUsd: own, estimated: false };
      return { model: name, tokens, costUsd: input + output === 0 ? null : costOf(name, tokens), estimated: true };
    },
  };
}
