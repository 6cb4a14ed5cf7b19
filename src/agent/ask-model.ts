import { createHash } from "node:crypto";
import type { Emit } from "../contract/event.ts";
import type { ModelDelta, ModelFailure, ModelMessage, ModelReply, StreamModel, ToolSpec } from "../contract/model-call.ts";
import type { Ask } from "../contract/runner.ts";
import type { Budget, Estimate } from "./budget.ts";
import type { Who } from "./call-tool.ts";
import { estimatePrompt } from "../llm/estimate-tokens.ts";
import type { RecordedReply, RecordedRequest } from "./memory.ts";
import { usd } from "../lib/usd.ts";

export type ModelDeps = {
  stream: StreamModel;
  onDelta(delta: ModelDelta): void;
  emit: Emit;
  who: Who;
  budget: Budget;
  /** What a call may cost at most; an unknown price counts as the dearest known. */
  estimate(model: string, tokensIn: number, tokensOut: number): Estimate;
  ask: Ask;
  newId(): string;
  signal: AbortSignal;
  /** Takes secrets out. What is hashed, measured and cut is the form that is recorded, so that a replay comes to the same. */
  redact<T>(value: T): T;
  /** Left out for the agent's conversation; what stands beside it is recorded too, but is no part of it. */
  purpose?: "critique" | "explanation";
};

export type ModelSetup = { model: string; system: string; tools: readonly ToolSpec[]; maxOutputTokens: number };

export type AskedModel = ModelReply | ModelFailure | { ok: "suspended"; inboxId: string } | { ok: "over_budget"; message: string };

/** One call of one agent: set money aside, record the request, stream, record the reply and what it cost. */
export function modelCaller(setup: ModelSetup, deps: ModelDeps): (messages: readonly ModelMessage[], force?: string) => Promise<AskedModel> {
  let sent: readonly ModelMessage[] = [];
  let first = true;

  const clean = messageRedactor(deps.redact);
  const cleanSetup = deps.redact(setup);

  return async (messages, force) => {
    const recorded = clean(messages);
    const reservation = await reserve(cleanSetup, recorded, deps);
    if ("ok" in reservation) return reservation;
    const requestId = deps.newId();
    const toolChoice = force === undefined ? ("auto" as const) : { tool: force };
    const keep = sharedPrefix(sent, messages);
    const request: RecordedRequest = { model: setup.model, keep, messages: messages.slice(keep), tool_choice: toolChoice };
    if (first) Object.assign(request, { system: setup.system, tools: setup.tools, max_output_tokens: setup.maxOutputTokens });
    const purpose = deps.purpose === undefined ? {} : { purpose: deps.purpose };
    deps.emit({ type: "model.request", ...deps.who, request_id: requestId, hash: requestHash(cleanSetup, recorded, toolChoice), request, ...purpose });
    sent = [...messages];
    first = false;

    const reply = await deps.stream({ ...setup, messages, toolChoice, signal: deps.signal }, (delta) => {
      if (delta.type === "restart") deps.emit({ type: "agent.retry", ...deps.who, attempt: delta.attempt, delay_ms: delta.delayMs, reason: delta.reason });
      // A forced call is a step of the loop, and what is said beside it is not an answer.
      if (force === undefined || delta.type === "restart") deps.onDelta(delta);
    });
    const { costUsd } = reply;
    reservation.settle({ usd: costUsd, tokens: reply.tokens });
    emitReply(requestId, reply, { ...deps, aside: force !== undefined || deps.purpose !== undefined });
    if (reply.tokens.input + reply.tokens.output > 0) {
      deps.emit({ type: "agent.usage", ...deps.who, model: setup.model, tokens: reply.tokens, cost_usd: costUsd, estimated: costUsd === null || reply.costEstimated });
    }
    return reply;
  };
}

async function reserve(setup: ModelSetup, messages: readonly ModelMessage[], deps: ModelDeps): Promise<Reserved> {
  const estimate = deps.estimate(setup.model, estimatePrompt({ ...setup, messages }), setup.maxOutputTokens);
  for (let round = 1; ; round++) {
    const reservation = deps.budget.reserve(estimate);
    if ("settle" in reservation) return reservation;
    const limit = reservation.over === "usd" ? usd(reservation.limit) : `${reservation.limit} tokens`;
    const spent = reservation.over === "usd" ? `$${reservation.spent.toFixed(4)}` : `${reservation.spent} tokens`;
    const asked = await deps.ask({
      key: `loop-budget-${reservation.limit}-${round}`,
      kind: "budget",
      title: `The budget of ${limit} would be passed (${spent} spent)`,
      body: "Approve to allow as much again, deny to stop here.",
      options: ["approve", "deny"],
      reversible: true,
      action: null,
    });
    if (asked.kind === "suspended") return { ok: "suspended", inboxId: asked.inboxId };
    if (asked.answer.decision === "deny") return { ok: "over_budget", message: `stopped at the budget of ${limit} (${spent} spent)` };
    deps.budget.extend();
  }
}

type Reserved = Extract<ReturnType<Budget["reserve"]>, { settle: unknown }> | { ok: "suspended"; inboxId: string } | { ok: "over_budget"; message: string };

function emitReply(requestId: string, reply: ModelReply | ModelFailure, deps: ModelDeps & { aside: boolean }): void {
  const used = { tokens: reply.tokens, cost_usd: reply.costUsd, cost_estimated: reply.costEstimated, attempts: reply.attempts };
  if (!reply.ok) {
    const record: RecordedReply = { ok: false, kind: reply.kind, message: reply.message, hint: reply.hint, ...used };
    deps.emit({ type: "model.reply", ...deps.who, request_id: requestId, reply: record });
    return;
  }
  for (const part of deps.aside ? [] : reply.message.content) {
    if (part.type === "thinking" && part.text !== "") deps.emit({ type: "agent.thinking", ...deps.who, content: part.text });
    if (part.type === "text" && part.text !== "") deps.emit({ type: "agent.output", ...deps.who, text: part.text });
  }
  const record: RecordedReply = { ok: true, message: reply.message, text: reply.text, tool_calls: reply.toolCalls, stop: reply.stop, ...used };
  deps.emit({ type: "model.reply", ...deps.who, request_id: requestId, reply: record });
}

/** Messages are never changed once they are made, so each is cleaned once. */
export function messageRedactor(redact: <T>(value: T) => T): (messages: readonly ModelMessage[]) => ModelMessage[] {
  const known = new WeakMap<ModelMessage, ModelMessage>();
  return (messages) =>
    messages.map((message) => {
      const before = known.get(message) ?? redact(message);
      known.set(message, before);
      return before;
    });
}

export function requestHash(setup: ModelSetup, messages: readonly ModelMessage[], toolChoice: unknown): string {
  const { model, system, tools, maxOutputTokens } = setup;
  return createHash("sha256").update(JSON.stringify([model, system, tools, maxOutputTokens, messages, toolChoice])).digest("hex");
}

/** How many messages the next request shares with the one before, so that the record grows with what is new only. */
function sharedPrefix(before: readonly ModelMessage[], now: readonly ModelMessage[]): number {
  let i = 0;
  while (i < before.length && i < now.length && (before[i] === now[i] || JSON.stringify(before[i]) === JSON.stringify(now[i]))) i++;
  return i;
}
