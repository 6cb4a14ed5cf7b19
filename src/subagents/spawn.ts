import type { Agent } from "../contract/agent.ts";
import type { Entry } from "../contract/catalog.ts";
import { CruError } from "../contract/error.ts";
import type { Emit } from "../contract/event.ts";
import { type ModelSource, resolveModel } from "../contract/model.ts";
import { MAX_AGENT_DEPTH, type Permission } from "../contract/permission.ts";
import type { AgentIdentity, Outcome } from "../contract/runner.ts";
import type { Queue } from "../lib/queue.ts";
import { requireModel } from "../llm/provider.ts";
import { effectiveRights } from "../permission/effective.ts";
import type { ReflectionAttempt } from "./reflexion.ts";
import { runWithReflection } from "./reflexion.ts";

/** What one agent wants of another. */
export type SpawnRequest = {
  agent: string;
  task: string;
  permissions?: readonly Permission[] | undefined;
  model?: string | undefined;
  /** Names this spawn within its session: after a restart the same key is the same child. */
  key: string;
};

export type Parent = {
  identity: AgentIdentity;
  /** A full model id. */
  model: string;
  permissions: readonly Permission[];
  /** What the parent is about: the task of its plan, else its request. */
  attempting(): string;
};

/** A child that may start: everything about it is settled and pinned. */
export type Child = {
  identity: AgentIdentity;
  taskId: string;
  entry: Entry<Agent>;
  prompt: string;
  task: string;
  model: string;
  modelSource: ModelSource;
  permissions: readonly Permission[];
  /** Rights that the definition asked for and the parent lacks. */
  reduced: readonly Permission[];
  constraint: readonly Permission[] | undefined;
  parentAttempt: string;
};

export type ChildEnd = Outcome & { reflection: readonly ReflectionAttempt[] };

export type SpawnDeps = {
  /** Throws when there is no such agent, it is disabled, or the project is not trusted. */
  findAgent(name: string): Entry<Agent>;
  readPrompt(entry: Entry<Agent>): string;
  defaultModel: string;
  deny: readonly Permission[];
  /** Throws when the session has used up its number of children. */
  countChild(identity: AgentIdentity): void;
  queue: Queue;
  providerOf(model: string): string;
  /** Throws when nobody serves the model here. */
  requireProvider(model: string): void;
  /** The same key is the same child, also in another process. */
  identify(parent: AgentIdentity, agent: string, key: string): { identity: AgentIdentity; taskId: string };
  /** What an earlier process recorded of this child, when it came to an end then. */
  recorded(identity: AgentIdentity): ChildResult | undefined;
  /** Runs one attempt of the child in a context of its own. */
  runAgent(child: Child, prompt: string): Promise<Outcome | Suspended>;
  /** Attempts that an earlier process finished and judged. */
  judged(child: Child): { text: string; critique: string }[];
  /** One critique by the child's own model. */
  critique(child: Child, prompt: string): Promise<string>;
  /** Writes the child's file; returns its name without the ending. */
  save(child: Child, end: ChildEnd): { link: string; summary: string };
  started(child: Child): void;
  /** Who is still in line when it is aborted does not start any more. */
  signal: AbortSignal;
  emit: Emit;
};

export type Suspended = { status: "suspended"; inboxId: string };
export type ChildResult = { ok: boolean; markdown: string };
export type Spawned = { kind: "ended"; result: ChildResult } | { kind: "suspended"; inboxId: string };

/** The one path by which an agent starts another. Refusals are thrown as `CruError`; whatever the child does is a result. */
export async function spawn(parent: Parent, request: SpawnRequest, deps: SpawnDeps): Promise<Spawned> {
  const child = admit(parent, request, deps);
  const earlier = deps.recorded(child.identity);
  if (earlier !== undefined) return { kind: "ended", result: earlier };
  const onWait = (depth: number): void =>
    deps.emit({ type: "agent.queued", session_id: child.identity.sessionId, span_id: child.identity.spanId, agent: child.identity.name, depth });
  return deps.queue.run(
    deps.providerOf(child.model),
    async () => {
      if (deps.signal.aborted) return { kind: "ended", result: { ok: false, markdown: "not run: the work was interrupted" } };
      deps.started(child);
      const end = await runWithReflection(child, deps).catch((error: unknown) => crashed(error));
      if (end.status === "suspended") return { kind: "suspended", inboxId: end.inboxId };
      const { link, summary } = deps.save(child, end);
      return { kind: "ended", result: { ok: end.status === "completed" || end.status === "partial", markdown: resultText(child, end, link, summary) } };
    },
    onWait,
  );
}

/** A fault in the child, or in us while it ran, must not take the parent down. */
function crashed(error: unknown): ChildEnd {
  const cause = error instanceof Error ? error : new Error(String(error));
  const record = { type: cause.name, message: cause.message, ...(cause.stack === undefined ? {} : { stack: cause.stack }) };
  return { status: "failed", text: "", output: null, tokens: { input: 0, output: 0 }, costUsd: 0, costEstimated: false, error: record, denials: [], reflection: [] };
}

function admit(parent: Parent, request: SpawnRequest, deps: SpawnDeps): Child {
  const depth = parent.identity.depth + 1;
  if (depth >= MAX_AGENT_DEPTH) throw depthExceeded();
  const entry = deps.findAgent(request.agent);
  const agent = entry.value;
  const rights = effectiveRights({ parent: parent.permissions, definition: agent.permissions, spawn: request.permissions, policy: { deny: deps.deny } });
  if (rights.status === "refused") throw new CruError("permission_refused", `cannot spawn ${agent.name}: ${rights.message}`);
  const { model, source } = chooseModel(agent, request.model, parent.model, deps.defaultModel);
  deps.requireProvider(model);
  const { identity, taskId } = deps.identify(parent.identity, agent.name, request.key);
  deps.countChild(identity);
  return {
    identity,
    taskId,
    entry,
    prompt: deps.readPrompt(entry),
    task: request.task,
    model,
    modelSource: source,
    permissions: rights.granted,
    reduced: rights.reduced,
    constraint: request.permissions,
    parentAttempt: parent.attempting(),
  };
}

export function depthExceeded(): CruError {
  return new CruError("depth_exceeded", `Maximum agent depth (${MAX_AGENT_DEPTH}) exceeded: subagents cannot spawn their own subagents`, {
    hint: "do this part yourself, or return and let the primary agent delegate it",
  });
}

function chooseModel(agent: Agent, override: string | undefined, parent: string, fallback: string): { model: string; source: ModelSource } {
  const wanted = override ?? agent.model;
  if (wanted !== undefined && wanted !== "inherit") requireModel(wanted);
  if (override !== undefined) return { model: override === "inherit" ? parent : resolveModel(override), source: "override" };
  if (agent.model === undefined) return { model: resolveModel(fallback), source: "default" };
  return { model: agent.model === "inherit" ? parent : resolveModel(agent.model), source: "definition" };
}

/** What the parent reads: the child's own words, framed by what it must know about how they came to be. */
function resultText(child: Child, end: ChildEnd, link: string, summary: string): string {
  const notes = [
    child.reduced.length > 0 ? `The agent ran without ${child.reduced.join(", ")}: you do not have these permissions yourself.` : "",
    end.status === "partial" ? `Reflection did not reach its criteria in ${end.reflection.length} attempts; this is the best attempt.` : "",
    end.status === "denied" ? "Its last gated action was denied by the user." : "",
    end.status === "timeout" ? "It ran out of time." : "",
    end.error === null ? "" : `${errorText(child, end)}`,
  ].filter((note) => note !== "");
  const head = `[[${link}]] ${child.identity.name}: ${end.status}`;
  return [head, ...notes, end.text.trim() === "" ? summary : end.text].filter((part) => part !== "").join("\n\n");
}

/** Trace id, chain and what the parent was about, so that an error is understood without the session. */
function errorText(child: Child, end: ChildEnd): string {
  const { identity } = child;
  return (
    `Agent ${identity.name} failed (${end.error?.type ?? "error"}): ${end.error?.message ?? ""}\n` +
    `trace ${identity.traceId}, chain ${identity.parentChain.join(" → ")}, while the parent was attempting: ${child.parentAttempt}`
  );
}
