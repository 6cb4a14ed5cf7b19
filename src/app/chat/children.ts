import { createHash } from "node:crypto";
import type { AskedModel, ModelSetup } from "../../agent/ask-model.ts";
import type { Agent } from "../../contract/agent.ts";
import type { Entry } from "../../contract/catalog.ts";
import { CruError } from "../../contract/error.ts";
import type { CruEvent, Emit } from "../../contract/event.ts";
import type { Permission } from "../../contract/permission.ts";
import type { AgentIdentity, Outcome } from "../../contract/runner.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Queue } from "../../lib/queue.ts";
import { providerKind } from "../../llm/provider.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { summaryOf } from "../../session/summary.ts";
import type { Child, ChildEnd, ChildResult, SpawnDeps, Suspended } from "../../subagents/spawn.ts";
import { attemptsOf } from "./attempts.ts";

export type ChildrenDeps = {
  session: SessionWriter;
  emit: Emit;
  clock: Clock;
  queue: Queue;
  signal: AbortSignal;
  findAgent(name: string): Entry<Agent>;
  readPrompt(entry: Entry<Agent>): string;
  defaultModel: string;
  deny: readonly Permission[];
  mostChildren: number;
  /** One recorded call of a child beside its conversation. */
  callModel(child: Child, setup: ModelSetup, prompt: string): Promise<AskedModel>;
  recorded: readonly CruEvent[];
  /** Spans of the children so far; those that start are added. */
  known: Set<string>;
  /** Throws when nobody serves the model here. */
  requireProvider(model: string): void;
  runChild(child: Child, prompt: string): Promise<Outcome | Suspended>;
};

/** What `subagents/spawn` needs, made of this session. */
export function spawnDeps(deps: ChildrenDeps): SpawnDeps {
  const { clock } = deps;
  const spawned = new Map<string, { at: string; ms: number }>();
  const seen = deps.known;

  return {
    findAgent: deps.findAgent,
    readPrompt: deps.readPrompt,
    defaultModel: deps.defaultModel,
    deny: deps.deny,
    queue: deps.queue,
    signal: deps.signal,
    emit: deps.emit,
    providerOf: providerKind,
    requireProvider: deps.requireProvider,
    runAgent: deps.runChild,
    countChild(identity) {
      if (seen.has(identity.spanId)) return;
      if (seen.size >= deps.mostChildren) {
        throw new CruError("limit_exceeded", `this session may start ${deps.mostChildren} agents and has started them all`, { hint: "do the rest yourself" });
      }
      seen.add(identity.spanId);
    },
    identify: (parent, agent, key) => identify(parent, agent, key, deps.session),
    recorded: (identity) => recordedResult(identity, deps.recorded),
    started(child) {
      spawned.set(child.identity.spanId, { at: clock.now().toISOString(), ms: clock.monotonicMs() });
      emitStarted(child, deps);
    },
    save(child, end) {
      const started = spawned.get(child.identity.spanId) ?? { at: clock.now().toISOString(), ms: clock.monotonicMs() };
      return saveResult(child, end, started, deps);
    },
    judged: (child) => attemptsOf(deps.recorded, child.identity.spanId).judged,
    async critique(child, prompt) {
      const reply = await deps.callModel(child, { model: child.model, system: child.prompt, tools: [], maxOutputTokens: 4000 }, prompt);
      if (reply.ok === true) return reply.text;
      return `the critique failed: ${reply.ok === "suspended" ? "the budget is used up" : reply.message}`;
    },
  };
}

/** Spans of all children that were ever started in a session. */
export function startedChildren(events: readonly CruEvent[]): Set<string> {
  return new Set(events.flatMap((e) => (e.type === "agent.started" && e.depth > 0 ? [e.span_id ?? ""] : [])));
}

/** The same key is the same child, also in another process. */
function identify(parent: AgentIdentity, agent: string, key: string, session: SessionWriter): { identity: AgentIdentity; taskId: string } {
  const spanId = createHash("sha256").update(`${parent.sessionId}\0${parent.spanId}\0${key}`).digest("hex").slice(0, 16);
  const { sessionId, traceId } = parent;
  return {
    identity: { name: agent, sessionId, traceId, spanId, parentSpanId: parent.spanId, parentChain: [...parent.parentChain, agent], depth: parent.depth + 1 },
    taskId: session.taskId(agent, spanId),
  };
}

function emitStarted(child: Child, deps: ChildrenDeps): void {
  const { identity, entry } = child;
  deps.emit({
    type: "agent.started", session_id: identity.sessionId, span_id: identity.spanId, agent: identity.name, task: child.task, model: child.model,
    model_source: child.modelSource, runner: "model", depth: identity.depth, permissions: [...child.permissions], parent_span_id: identity.parentSpanId,
    parent_chain: [...identity.parentChain], definition_hash: entry.hash, task_id: child.taskId, parent_attempt: child.parentAttempt,
    reduced: [...child.reduced], inherited: child.constraint === undefined,
  });
}

function saveResult(child: Child, end: ChildEnd, started: { at: string; ms: number }, deps: ChildrenDeps): { link: string; summary: string } {
  const { session, clock } = deps;
  const { identity } = child;
  const status = end.status === "blocked" || end.status === "cancelled" ? "failed" : end.status;
  const durationMs = Math.max(0, Math.round(clock.monotonicMs() - started.ms));
  const used = session.metadata().trace.find((t) => t.span_id === identity.spanId);
  const tokens = used?.tokens ?? end.tokens;
  const costUsd = used === undefined ? end.costUsd : used.cost_usd;
  const file = session.writeResult({
    agent: identity.name, task_id: child.taskId, parent_chain: identity.parentChain, spawned_at: started.at, completed_at: clock.now().toISOString(),
    duration_ms: durationMs, model: child.model, model_source: child.modelSource, tokens, cost_usd: costUsd, permissions: child.permissions,
    constraint: child.constraint?.join(", "), status, error: end.error, denials: end.denials, modifications: end.modifications ?? [], reflection: end.reflection, task: child.task, text: end.text,
  });
  const summary = end.error === null ? summaryOf(end.text) : `${end.error.type}: ${end.error.message}`;
  deps.emit({
    type: "agent.completed", session_id: identity.sessionId, span_id: identity.spanId, agent: identity.name, status, summary, duration_ms: durationMs,
    tokens, cost_usd: costUsd, error: end.error, file,
  });
  return { link: file.replace(/\.md$/, ""), summary };
}

function recordedResult(identity: AgentIdentity, events: readonly CruEvent[]): ChildResult | undefined {
  const done = events.findLast((e) => e.type === "agent.completed" && e.span_id === identity.spanId);
  if (done?.type !== "agent.completed" || done.error?.type === "interrupted") return undefined;
  return { ok: done.status === "completed" || done.status === "partial", markdown: `[[${(done.file ?? "").replace(/\.md$/, "")}]] ${done.agent}: ${done.status}\n\n${done.summary}` };
}
