import { join } from "node:path";
import type { NewEvent } from "../../src/contract/event.ts";
import type { Ask, AskInput, RunRequest } from "../../src/contract/runner.ts";
import { type AcpSetup, createAcpRunner } from "../../src/runner/acp/acp-runner.ts";
import type { Script } from "../../src/scripted/script.ts";
import { type ClaudeRun, KEY, requestFor, type Stage, stage } from "./claude.ts";
import { answered } from "./loop.ts";
import { adapterPath, claudePath } from "./peers.ts";
import { scripted } from "./scripted.ts";

export type AcpOptions = {
  at?: Stage;
  request?: Partial<RunRequest>;
  setup?: Partial<AcpSetup>;
  answer?: (question: AskInput) => ReturnType<Ask>;
  signal?: AbortSignal;
  onEvent?: (event: NewEvent, index: number) => void;
  env?: Record<string, string>;
};

/** The runner with the real adapter of the real CLI (or `setup.acp.command`) against a scripted model. */
export async function runAcp(script: Script, options: AcpOptions = {}): Promise<ClaudeRun> {
  const at = options.at ?? stage();
  const server = await scripted(script);
  const events: NewEvent[] = [];
  const asked: AskInput[] = [];
  const runner = createAcpRunner({
    acp: { command: [adapterPath] }, sandbox: { mode: "required", hosts: [] }, allow: [], home: at.home, maxRetries: 1, stateFolder: (agent) => join(at.state, agent.spanId),
    env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url, ...(claudePath === "" ? {} : { CLAUDE_CODE_EXECUTABLE: claudePath }), ...options.env },
    ...options.setup,
  });
  const outcome = await runner.run(requestFor(at, options.request), {
    emit: (event) => {
      events.push(event);
      options.onEvent?.(event, events.length - 1);
    },
    ask: async (question) => {
      asked.push(question);
      return options.answer?.(question) ?? answered("no", "deny");
    },
    signal: options.signal ?? new AbortController().signal,
  });
  return { outcome, events, asked, requests: server.requests, at };
}
