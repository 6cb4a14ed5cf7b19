import { randomBytes } from "node:crypto";
import type { Budget } from "../../agent/budget.ts";
import { freshMemory, type LoopMemory, recallMemory } from "../../agent/memory.ts";
import { type LoopEnd, runLoop } from "../../agent/run-loop.ts";
import type { CruEvent, Emit, PlanTask } from "../../contract/event.ts";
import type { ModelDelta, StreamModel } from "../../contract/model-call.ts";
import type { Permission } from "../../contract/permission.ts";
import type { AgentIdentity, Ask } from "../../contract/runner.ts";
import type { AnyTool, ToolResult } from "../../contract/tool.ts";
import { estimateCall } from "../../llm/price.ts";
import { createExplain } from "./explain.ts";
import { createAuthorize } from "./gates.ts";
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
  windowTokens: number | null;
  recorded: readonly CruEvent[];
  now(): number;
};

export type Denial = { action: string; reason: string };
export type AgentEnd = LoopEnd & { memory: LoopMemory; denials: Denial[]; lastDenied: boolean };

const MAX_OUTPUT_TOKENS = 16_000;

/** Gives one agent its tools, gates and memory, and runs its loop. Tools that need a right the agent lacks are not offered. */
export async function runAgent(spec: AgentSpec, deps: AgentDeps): Promise<AgentEnd> {
  const tools = spec.tools.filter((tool) => tool.needs.every((right) => spec.permissions.includes(right)));
  const changes = (name: string): boolean => tools.find((t) => t.name === name)?.changes ?? false;
  const mine = deps.recorded.filter((e) => "span_id" in e && e.span_id === spec.identity.spanId);
  const memory = mine.length === 0 ? freshMemory(spec.prompt) : recallMemory(spec.prompt, spec.identity.depth === 0 ? deps.recorded : mine, spec.identity.spanId, changes);
  if (spec.followUp !== undefined) continueWith(memory, spec.followUp, spec, deps);
  const denials: Denial[] = [];
  let lastDenied = false;
  const onDecision = (action: string, denied: string | undefined): void => {
    lastDenied = denied !== undefined;
    if (denied !== undefined) denials.push({ action, reason: denied });
  };
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
      newId: () => randomBytes(6).toString("hex"),
      signal: deps.signal,
      tools,
      authorize: createAuthorize({ ask: spec.ask, requiresApproval: spec.requiresApproval, allow: deps.allow, sandboxed: deps.sandboxed, onDecision, explain: createExplain(spec, tools, memory, deps) }),
      startTask: spec.startTask,
      takeGuidance: spec.takeGuidance,
      now: deps.now,
    },
  );
  return { ...end, memory, denials, lastDenied };
}

/** A finished conversation goes on with the user's next words; an unfinished one hears them as guidance. */
function continueWith(memory: LoopMemory, words: string, spec: AgentSpec, deps: AgentDeps): void {
  const { open } = memory;
  if (open !== undefined && !open.calls.every((call) => open.done.has(call.callId))) {
    spec.takeGuidance = once(words, spec.takeGuidance);
    return;
  }
  const results = [...(open?.done.values() ?? [])].map(({ callId, tool, ok, output }) => ({ call_id: callId, tool, ok, output }));
  memory.messages = [...memory.messages, ...(results.length === 0 ? [] : [{ role: "tool" as const, results }]), { role: "user", content: words }];
  Object.assign(memory, { open: undefined, held: undefined, nudged: false, lastText: "" });
  memory.guidance.push(words);
  deps.emit({ type: "session.guidance", session_id: spec.identity.sessionId, text: words });
}

function once(first: string, then: () => string[]): () => string[] {
  let said = false;
  return () => {
    if (said) return then();
    said = true;
    return [first, ...then()];
  };
}
