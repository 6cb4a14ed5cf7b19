import type { Tokens } from "../../contract/usage.ts";
import { costOf } from "../../llm/price.ts";
import type { ModelTotals } from "../agent-memory.ts";
import { amount, type Message, record, text } from "../message.ts";
import { tokensOf, type Usage } from "../usage.ts";

/** What a result line adds to what was counted before. The CLI's totals run over the whole session, subagents and resumes included; its own cost is preferred. */
export function usageOfResult(result: Message, counted: ModelTotals): { usage: Usage[]; counted: ModelTotals } {
  const now: ModelTotals = {};
  for (const [model, value] of Object.entries(record(result.modelUsage))) {
    const use = record(value);
    now[model] = {
      input: amount(use.inputTokens), output: amount(use.outputTokens), cache_read: amount(use.cacheReadInputTokens), cache_write: amount(use.cacheCreationInputTokens),
      cost_usd: amount(use.costUSD),
    };
  }
  const usage = Object.entries(now).flatMap(([model, total]) => {
    // A total that went down belongs to a process that did not know the earlier ones.
    const seen = counted[model];
    const before = seen !== undefined && seen.output <= total.output && seen.cost_usd <= total.cost_usd ? seen : { input: 0, output: 0, cache_read: 0, cache_write: 0, cost_usd: 0 };
    const part = (key: keyof typeof total): number => Math.max(0, total[key] - before[key]);
    const tokens = tokensOf(part("input"), part("output"), part("cache_read"), part("cache_write"));
    return tokens.input + tokens.output === 0 && part("cost_usd") === 0 ? [] : [{ model, tokens, costUsd: part("cost_usd"), estimated: false }];
  });
  return { usage, counted: { ...counted, ...now } };
}

/** Calls whose result line never came: counted from the stream, priced by our own table. */
export function openCalls(): { message(event: Message): void; settled(): void; left(): Usage[] } {
  let calls: { model: string; tokens: Tokens }[] = [];
  return {
    message(event) {
      if (event.type === "message_start") {
        const message = record(event.message);
        const use = record(message.usage);
        calls.push({ model: text(message.model), tokens: tokensOf(amount(use.input_tokens), amount(use.output_tokens), amount(use.cache_read_input_tokens), amount(use.cache_creation_input_tokens)) });
      }
      const last = calls.at(-1);
      if (event.type === "message_delta" && last !== undefined) last.tokens.output = Math.max(last.tokens.output, amount(record(event.usage).output_tokens));
    },
    settled() {
      calls = [];
    },
    left: () => calls.map(({ model, tokens }) => ({ model, tokens, costUsd: costOf(model, tokens), estimated: true })),
  };
}
