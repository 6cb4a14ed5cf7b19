import { randomBytes } from "node:crypto";
import type { Budget } from "../../agent/budget.ts";
import { type Authorize, type Called, callTool } from "../../agent/call-tool.ts";
import { freshMemory, type LoopMemory, recallMemory } from "../../agent/memory.ts";
import { type LoopEnd, runLoop } from "../../agent/run-loop.ts";
import type { CruEvent, Emit, PlanTask } from "../../contract/event.ts";
import type { ModelDelta, ModelToolCall, StreamModel } from "../../contract/model-call.ts";
import type { Permission } from "../../contract/permission.ts";
import type { AgentIdentity, Ask } from "../../contract/runner.ts";
import type { AnyTool, ToolResult } from "../../contract/tool.ts";
import { estimateCall } from "../../llm/price.ts";
import type { SoFar } from "./explain.ts";
import { createAuthorize, type GateDeps } from "./gates.ts";
import { windowOf } from "./window.ts";

/** One agent that is about to run in this process, primary or child. */
export type AgentSpec = {
  identity: AgentIdentity;
  system: string;
  prompt: string;
  /** What the user says to a conversation that had come to an end. */
  followUp: string | undefined;
  model: string;
  permissions: readonly Permission[];
  requiresApproval: readonly string[];
  maxIterations: number;
  tools: readonly AnyTool[];
  ask: Ask;
  /** The approval for the session that covers a call, if one does. */
  standing: GateDeps["standing"];
  reused: GateDeps["reused"];
  /** Hears how to see what the agent said and saw so far, once it runs. */
  onConversation(soFar: () => SoFar): void;
  startTask(task: PlanTask, key: string): Promise<ToolResult>;
  takeGuidance(): string[];
};

export type AgentDeps = {
  stream: StreamModel;
  budget: Budget;
  emit: Emit;
  onDelta(span: string, delta: ModelDelta): void;
  signal: AbortSignal;
  workspace: string;
  allow: readonly Permission[];
  sandboxed: boolean;
  ownGit: boolean;
  windowTokens: number | null;
  recorded: readonly CruEvent[];
  redact<T>(value: T): T;
  now(): number;
};

export type AgentEnd = LoopEnd & { memory: LoopMemory };

const MAX_OUTPUT_TOKENS = 16_000;
/** Agents elsewhere have a limit of their own for one result, and refuse what is longer. */
const MOST_DESK_OUTPUT = 60_000;

/** Gives one agent its tools, gates and memory, and runs its loop. */
export async function runAgent(spec: AgentSpec, deps: AgentDeps): Promise<AgentEnd> {
  const tools = offered(spec);
  const changes = (name: string): boolean => tools.find((t) => t.name === name)?.changes ?? false;
  const mine = deps.recorded.filter((e) => "span_id" in e && e.span_id === spec.identity.spanId);
  const memory = mine.length === 0 ? freshMemory(spec.prompt) : recallMemory(spec.prompt, spec.identity.depth === 0 ? deps.recorded : mine, spec.identity.spanId, changes);
  spec.onConversation(() => memory);
  if (spec.followUp !== undefined) continueWith(memory, spec.followUp, spec, deps);
  // Said to an earlier process that ended before it was passed on.
  else if (memory.unheard.length > 0 && isSettled(memory)) hearNow(memory, memory.unheard.join("\n"));
  const windowTokens = deps.windowTokens ?? windowOf(spec.model);
  const end = await runLoop(
    {
      agent: spec.identity,
      system: spec.system,
      prompt: spec.prompt,
      model: spec.model,
      workspace: deps.workspace,
      maxIterations: spec.maxIterations,
      windowTokens,
      maxOutputTokens: Math.min(MAX_OUTPUT_TOKENS, Math.floor(windowTokens / 4)),
      primary: spec.identity.depth === 0,
      memory,
    },
    {
      stream: deps.stream,
      onDelta: (delta) => deps.onDelta(spec.identity.spanId, delta),
      emit: deps.emit,
      budget: deps.budget,
      estimate: estimateCall,
      ask: spec.ask,
      newId: newRequestId,
      signal: deps.signal,
      tools,
      authorize: gatesOf(spec, deps),
      startTask: spec.startTask,
      takeGuidance: spec.takeGuidance,
      redact: deps.redact,
      now: deps.now,
    },
  );
  return { ...end, memory };
}

export type ToolDesk = { tools: readonly AnyTool[]; call(call: ModelToolCall): Promise<Called> };

/** The tools of an agent whose loop runs elsewhere: the same rights, gates and record as for one that runs here. */
export function openDesk(spec: AgentSpec, deps: AgentDeps): ToolDesk {
  const tools = offered(spec);
  const { identity } = spec;
  const callDeps = {
    emit: deps.emit, who: { session_id: identity.sessionId, span_id: identity.spanId }, now: deps.now, mostOutput: MOST_DESK_OUTPUT, redact: deps.redact,
    tools: new Map(tools.map((tool) => [tool.name, tool])), authorize: gatesOf(spec, deps), workspace: deps.workspace, signal: deps.signal,
  };
  return { tools, call: (call) => callTool(call, callDeps) };
}

/** Tools that need a right the agent lacks are not offered. */
function offered(spec: AgentSpec): AnyTool[] {
  return spec.tools.filter((tool) => tool.needs.every((right) => spec.permissions.includes(right)));
}

function gatesOf(spec: AgentSpec, deps: AgentDeps): Authorize {
  return createAuthorize({ ask: spec.ask, requiresApproval: spec.requiresApproval, allow: deps.allow, sandboxed: deps.sandboxed, ownGit: deps.ownGit, standing: spec.standing, reused: spec.reused });
}

export function newRequestId(): string {
  return randomBytes(6).toString("hex");
}

/** A finished conversation goes on with the user's next words; an unfinished one hears them as guidance. */
function continueWith(memory: LoopMemory, words: string, spec: AgentSpec, deps: AgentDeps): void {
  // Recorded first: what waits for another answer may wait longer than this process lives.
  memory.guidance.push(words);
  memory.unheard.push(words);
  if (isSettled(memory)) hearNow(memory, memory.unheard.join("\n"));
  deps.emit({ type: "session.guidance", session_id: spec.identity.sessionId, text: words, from: "user" });
}

/** True when every call of the last reply has its result. */
function isSettled({ open }: LoopMemory): boolean {
  return open === undefined || open.calls.every((call) => open.done.has(call.callId));
}

function hearNow(memory: LoopMemory, words: string): void {
  const results = [...(memory.open?.done.values() ?? [])].map(({ callId, tool, ok, output }) => ({ call_id: callId, tool, ok, output }));
  memory.messages = [...memory.messages, ...(results.length === 0 ? [] : [{ role: "tool" as const, results }]), { role: "user", content: words }];
  Object.assign(memory, { open: undefined, held: undefined, nudged: false, lastText: "", unheard: [] });
}
