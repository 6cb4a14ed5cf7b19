import type { Clock } from "../../src/lib/clock.ts";
import { findPaths, type Paths } from "../../src/config/paths.ts";
import type { NewEvent } from "../../src/contract/event.ts";
import type { SubagentResult } from "../../src/contract/session.ts";
import { openSession, type SessionDeps, type SessionInput } from "../../src/session/open-session.ts";
import type { SessionWriter } from "../../src/session/session-writer.ts";
import { temporaryFolder } from "./temp.ts";

/** A clock that stands still until it is told to go. */
export function testClock(at = "2026-11-16T10:00:00.000Z"): Clock & { advance(ms: number): void; jump(ms: number): void } {
  let [wall, monotonic] = [Date.parse(at), 0];
  return {
    now: () => new Date(wall),
    monotonicMs: () => monotonic,
    advance(ms) {
      wall += ms;
      monotonic += ms;
    },
    jump(ms) {
      wall += ms;
    },
  };
}

export function testPaths(root = temporaryFolder()): Paths {
  return findPaths(root, { HOME: root });
}

export function sessionDeps(overrides: Partial<SessionDeps> = {}): SessionDeps & { warnings: string[] } {
  const warnings: string[] = [];
  return { paths: testPaths(), env: {}, clock: testClock(), warn: (message) => void warnings.push(message), ...overrides, warnings };
}

export function open(deps: SessionDeps, input: Partial<SessionInput> = {}): Promise<SessionWriter> {
  return openSession({ request: "Find all usages", agent: "primary", version: "abc123", model: "claude-sonnet-5-5", modelSource: "default", runner: "model", ...input }, deps);
}

export const ROOT_SPAN = "aaaaaaaaaaaaaaaa";

export function primaryStarted(): NewEvent {
  return {
    type: "agent.started", span_id: ROOT_SPAN, agent: "primary", task: "Find all usages", model: "claude-sonnet-5-5", model_source: "default", runner: "model",
    depth: 0, permissions: ["FilesystemRead", "FilesystemWrite"], parent_span_id: null, parent_chain: ["user", "primary"], definition_hash: "abc123",
  };
}

export function childStarted(agent: string, taskId: string, span: string): NewEvent {
  return {
    type: "agent.started", span_id: span, agent, task: `task of ${agent}`, task_id: taskId, model: "claude-haiku-5-5", model_source: "override", runner: "model",
    depth: 1, permissions: ["FilesystemRead"], reduced: ["Shell"], parent_span_id: ROOT_SPAN, parent_chain: ["user", "primary", agent], definition_hash: "d",
    parent_attempt: "review the change",
  };
}

export function childResult(agent: string, taskId: string, overrides: Partial<SubagentResult> = {}): SubagentResult {
  return {
    agent, task_id: taskId, parent_chain: ["user", "primary", agent], spawned_at: "2026-11-16T10:00:00.000Z", completed_at: "2026-11-16T10:00:01.204Z",
    duration_ms: 1204, model: "claude-haiku-5-5", model_source: "override", tokens: { input: 3000, output: 210 }, cost_usd: 0.0004, permissions: ["FilesystemRead"],
    status: "completed", error: null, denials: [], reflection: [], task: `task of ${agent}`, text: "Details.\n\n## Summary\n\nAll is well.", ...overrides,
  };
}

/** A whole subagent: started, its file written, completed. Returns the file's name. */
export function runChild(session: SessionWriter, agent: string, span: string, overrides: Partial<SubagentResult> = {}): string {
  const taskId = session.taskId(agent, span);
  session.emit(childStarted(agent, taskId, span));
  const result = childResult(agent, taskId, overrides);
  const file = session.writeResult(result);
  session.emit({
    type: "agent.completed", span_id: span, agent, status: result.status, summary: "All is well.", duration_ms: result.duration_ms, tokens: result.tokens,
    cost_usd: result.cost_usd, error: result.error, file,
  });
  return file;
}
