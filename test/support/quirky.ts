import { join } from "node:path";
import { type AcpOptions, runAcp } from "./acp.ts";
import type { ClaudeRun } from "./claude.ts";
import { repository } from "./cru.ts";

/** An ACP agent that does what its prompt says; see there for the names that the code may use. */
export const quirky = join(repository, "test", "support", "quirky-agent.mjs");

export type QuirkyOptions = AcpOptions & { agent?: Record<string, unknown> };

/** `code` is run inside the sandbox as one turn of the agent. */
export function quirk(code: string, options: QuirkyOptions = {}): Promise<ClaudeRun> {
  return runAcp([], { ...options, request: { prompt: `js:${code}`, ...options.request }, setup: { acp: { command: [quirky, JSON.stringify(options.agent ?? {})] }, ...options.setup } });
}
