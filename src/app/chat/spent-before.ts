import type { Spent } from "../../agent/budget.ts";
import type { CruEvent } from "../../contract/event.ts";

/** What a session has used up to now. */
export function spentBefore(events: readonly CruEvent[]): Spent {
  const spent: Spent = { usd: 0, tokens: 0, estimated: false };
  for (const event of events) {
    if (event.type !== "agent.usage") continue;
    spent.usd += event.cost_usd ?? 0;
    spent.tokens += event.tokens.input + event.tokens.output;
    spent.estimated ||= event.estimated;
  }
  return spent;
}
