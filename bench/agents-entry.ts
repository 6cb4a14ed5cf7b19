import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPaths } from "../src/config/paths.ts";
import type { NewEvent } from "../src/contract/event.ts";
import { systemClock } from "../src/lib/clock.ts";
import { createClaudeRunner } from "../src/runner/claude/claude-runner.ts";
import { openSession } from "../src/session/open-session.ts";

type Speech = { lines: number; perSecond?: number };

/** Lines a second, from the first that was heard to the last: with nothing but a reader behind the pipe. */
export function rawPipe(agent: string, lines: number): Promise<number> {
  return new Promise((done) => {
    const child = spawn(process.execPath, [agent], { stdio: ["pipe", "pipe", "inherit"] });
    let [first, count] = [0, 0];
    child.stdout.on("data", (chunk: Buffer) => {
      if (first === 0) first = performance.now();
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) count++;
      if (count > lines) child.stdin.end();
    });
    child.on("close", () => done((count * 1000) / (performance.now() - first)));
    child.stdin.write(`${JSON.stringify({ type: "user", message: { content: JSON.stringify({ lines }) } })}\n`);
  });
}

/** The same through the runner, the session's journal and a listener; and the processor's time for a line, which a busy machine changes less. */
export async function throughput(agent: string, lines: number): Promise<{ perSecond: number; cpuMicros: number }> {
  let [first, last, count] = [0, 0, 0];
  let start = process.cpuUsage();
  let used = start;
  await withAgents(agent, [{ lines }], (event) => {
    if (event.type !== "agent.output") return;
    last = performance.now();
    if (count === 0) [first, start] = [last, process.cpuUsage()];
    if (++count === lines) used = process.cpuUsage(start);
  });
  if (count < lines) throw new Error(`of ${lines} lines ${count} were heard`);
  return { perSecond: (count * 1000) / (last - first), cpuMicros: (used.user + used.system) / lines };
}

/** Milliseconds from the agent's write to the listener, after the journal, sorted. */
export async function latencies(agent: string, speech: Required<Speech>): Promise<number[]> {
  const found: number[] = [];
  await withAgents(agent, [speech], (event) => {
    if (event.type === "agent.output") found.push(Number(process.hrtime.bigint() - BigInt(/^\d+/.exec(event.text)?.[0] ?? 0)) / 1e6);
  });
  return found.sort((a, b) => a - b);
}

/** The most memory that this process had with so many agents speaking at once, in bytes. */
export async function memory(agent: string, agents: number, speech: Required<Speech>): Promise<{ most: number }> {
  let most = 0;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 50);
  await withAgents(agent, Array.from({ length: agents }, () => speech), () => {});
  clearInterval(timer);
  return { most };
}

async function withAgents(agent: string, speeches: readonly Speech[], hear: (event: NewEvent) => void): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "cru-bench-")));
  const [home, root] = [join(base, "home"), join(base, "project")];
  for (const folder of [home, join(root, ".crucible")]) mkdirSync(folder, { recursive: true });
  const env = { HOME: home, PATH: process.env.PATH, ANTHROPIC_API_KEY: "sk-ant-bench-0123456789" };
  const paths = findPaths(root, env);
  try {
    await Promise.all(speeches.map(async (speech, i) => {
      const session = await openSession(
        { request: `speak ${i}`, agent: "implementer", version: "", model: "sonnet", modelSource: "default", runner: "claude" }, { paths, env, clock: systemClock, warn: () => {} },
      );
      const runner = createClaudeRunner({
        claude: { command: agent, args: [] }, sandbox: { mode: "off", hosts: [] }, allow: [], env, home, stateFolder: () => join(base, `state-${i}`),
      });
      const identity = { name: "implementer", sessionId: session.id, traceId: session.traceId, spanId: "aaaaaaaaaaaaaaaa", parentSpanId: null, parentChain: ["user", "implementer"], depth: 0 };
      const outcome = await runner.run(
        {
          agent: identity, system: "", prompt: JSON.stringify(speech), workspace: root, model: "sonnet", permissions: ["FilesystemRead", "FilesystemWrite", "SemanticSearch", "Shell"], requiresApproval: [],
          mcpServers: {}, limits: { maxIterations: 10, timeoutMs: 600_000, idleMs: 600_000, budgetUsd: null }, resume: false,
        },
        {
          emit(event) {
            session.emit(event);
            hear(event);
          },
          ask: async () => ({ kind: "suspended", inboxId: "" }),
          signal: new AbortController().signal,
        },
      );
      session.finish("completed");
      if (outcome.status !== "completed") throw new Error(`the agent ended ${outcome.status}: ${outcome.error?.message ?? ""}`);
    }));
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
