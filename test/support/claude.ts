import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { NewEvent } from "../../src/contract/event.ts";
import type { Ask, AskInput, Outcome, RunDeps, RunRequest } from "../../src/contract/runner.ts";
import { type ClaudeSetup, createClaudeRunner } from "../../src/runner/claude/claude-runner.ts";
import type { Script } from "../../src/scripted/script.ts";
import type { ScriptedRequest } from "../../src/scripted/request.ts";
import { answered } from "./loop.ts";
import { claudePath } from "./peers.ts";
import { scripted } from "./scripted.ts";
import { temporaryFolder, writeFiles } from "./temp.ts";

/** In parts: an agent that searches everything it sees, this file included, must not find it. */
export const KEY = ["sk-ant-real-key", "0123456789"].join("-");

/** A user's machine for one external agent: home with a canary, main checkout, worktree, state. */
export type Stage = { base: string; home: string; checkout: string; worktree: string; state: string };

export function stage(files: Record<string, string> = {}): Stage {
  const base = temporaryFolder();
  const at = { base, home: join(base, "home"), checkout: join(base, "home", "repo"), worktree: join(base, "home", "repo", ".coven", "worktrees", "b1"), state: join(base, "state") };
  writeFiles(base, { "home/canary": "home-canary", "home/repo/canary": "checkout-canary", "home/repo/.coven/worktrees/b1/readme.md": "hello\n" });
  mkdirSync(at.state);
  writeFiles(at.worktree, files);
  return at;
}

export type ClaudeOptions = {
  at?: Stage;
  request?: Partial<RunRequest>;
  setup?: Partial<ClaudeSetup>;
  answer?: (question: AskInput) => ReturnType<Ask>;
  signal?: AbortSignal;
  onEvent?: (event: NewEvent, index: number) => void;
  env?: Record<string, string>;
  onRunning?: RunDeps["onRunning"];
};

export type ClaudeRun = { outcome: Outcome; events: NewEvent[]; asked: AskInput[]; requests: ScriptedRequest[]; at: Stage };

/** The runner with the real CLI (or `setup.claude.command`) against a scripted model. */
export async function runClaude(script: Script, options: ClaudeOptions = {}): Promise<ClaudeRun> {
  const at = options.at ?? stage();
  const server = await scripted(script);
  const events: NewEvent[] = [];
  const asked: AskInput[] = [];
  const runner = createClaudeRunner({
    claude: { command: claudePath, args: [] }, sandbox: { mode: "required", hosts: [] }, allow: [], home: at.home, maxRetries: 1,
    env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url, ...options.env }, stateFolder: (agent) => join(at.state, agent.spanId), ...options.setup,
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
    ...(options.onRunning === undefined ? {} : { onRunning: options.onRunning }),
  });
  return { outcome, events, asked, requests: server.requests, at };
}

export function requestFor(at: Stage, change: Partial<RunRequest> = {}): RunRequest {
  return {
    agent: { name: "implementer", sessionId: "2026-11-16-task", traceId: "0".repeat(32), spanId: "aaaaaaaaaaaaaaaa", parentSpanId: null, parentChain: ["user", "implementer"], depth: 0 },
    system: "", prompt: "Do the task.", workspace: at.worktree, model: "sonnet", permissions: ["FilesystemRead", "FilesystemWrite", "SemanticSearch", "Shell"], requiresApproval: [], mcpServers: {},
    limits: { maxIterations: 50, timeoutMs: 60_000, idleMs: 30_000, budgetUsd: null }, resume: false, expectsOutput: true, ...change,
  };
}

/** A final message that keeps the output contract. */
export function done(summary = "done", more: Record<string, unknown> = {}): string {
  return `Finished.\n\n\`\`\`json\n${JSON.stringify({ success: true, summary, ...more })}\n\`\`\``;
}

export function ofType<T extends NewEvent["type"]>(events: readonly NewEvent[], type: T): Extract<NewEvent, { type: T }>[] {
  return events.filter((event): event is Extract<NewEvent, { type: T }> => event.type === type);
}
