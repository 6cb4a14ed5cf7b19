import { join } from "node:path";
import type { ClaudeOptions, ClaudeRun } from "./claude.ts";
import { runClaude } from "./claude.ts";
import { repository } from "./cru.ts";

export const obedient = join(repository, "test", "support", "obedient-agent.mjs");

/** The runner with an agent program that obeys every order: shell text, or `js:` code that runs inside the agent's own process. */
export function obey(order: string, options: ClaudeOptions = {}): Promise<ClaudeRun> {
  return runClaude([], {
    ...options,
    request: { prompt: order, expectsOutput: false, ...options.request },
    setup: { claude: { command: obedient, args: [] }, ...options.setup },
  });
}
