import type { ModelCall, ModelFailure, ModelReply, StreamModel } from "../contract/model-call.ts";
import type { Tokens } from "../contract/usage.ts";
import { classifyFailure, type Failure } from "./classify-failure.ts";
import { type Clock, systemClock } from "./clock.ts";
import { stopOf, textOf } from "./collect-reply.ts";
import { estimatePrompt, estimateTokens } from "./estimate-tokens.ts";
import { costOf } from "./price.ts";
import type { PriceTable } from "./price-table.ts";
import { type Environment, type Provider, requireProvider } from "./provider.ts";
import { type Attempt, runAttempt } from "./run-attempt.ts";

export type RetryPolicy = {
  maxAttempts: number;
  /** A silent server costs `idleMs` each time, so it gets fewer tries. */
  maxTimeouts: number;
  firstDelayMs: number;
  longestDelayMs: number;
  /** A server that asks for more than this gets no wait from us; the caller is told when it resets. */
  longestWaitMs: number;
};

export type StreamModelDeps = {
  env: Environment;
  prices?: PriceTable;
  retry?: Partial<RetryPolicy>;
  /** Silence after which a call counts as hung, before the headers and between events. */
  idleMs?: number;
  clock?: Clock;
};

type Spend = Pick<ModelReply, "tokens" | "costUsd" | "costEstimated" | "attempts">;

const RETRY: RetryPolicy = { maxAttempts: 6, maxTimeouts: 2, firstDelayMs: 1000, longestDelayMs: 30_000, longestWaitMs: 60_000 };
const IDLE_MS = 180_000;

/** The one way to a model: streams a reply, tries again where that helps, and gives every end of it as a value. */
export function createStreamModel(deps: StreamModelDeps): StreamModel {
  const policy = { ...RETRY, ...deps.retry };
  const clock = deps.clock ?? systemClock;
  return async (call, onDelta) => {
    const provider = requireProvider(call.model, deps.env);
    let spend: Spend = { tokens: { input: 0, output: 0 }, costUsd: 0, costEstimated: false, attempts: 0 };
    let timeouts = 0;
    for (;;) {
      const attempt = await runAttempt({ provider, call, idleMs: deps.idleMs ?? IDLE_MS }, { onDelta, clock });
      spend = add(spend, call, attempt, deps.prices);
      if (attempt.end.how === "done") return succeeded(attempt, spend);
      const failure = failureOf(attempt, provider, call, clock.now());
      if (failure.kind === "timeout") timeouts++;
      const delayMs = delayBefore(failure, spend.attempts, policy, clock.random());
      if (delayMs === undefined || spend.attempts >= policy.maxAttempts || timeouts >= policy.maxTimeouts) {
        return failed(failure, textOf(attempt.collected), spend, clock.now());
      }
      onDelta({ type: "restart", attempt: spend.attempts + 1, delayMs, reason: failure.message });
      await clock.sleep(delayMs, call.signal);
      if (call.signal.aborted) return failed(ABORTED, "", spend, clock.now());
    }
  };
}

const ABORTED: Failure = { kind: "aborted", message: "the call was cancelled", hint: "", retryable: false };

function failureOf(attempt: Attempt, provider: Provider, call: ModelCall, now: number): Failure {
  switch (attempt.end.how) {
    case "aborted":
      return ABORTED;
    case "timeout":
      return { kind: "timeout", message: "the model server went silent", hint: "try again later; a local server may need more time to load its model", retryable: true };
    case "error":
      return classifyFailure(attempt.end.error, provider, secretsOf(provider, call), now);
    default:
      return { kind: "cut", message: "the reply ended in the middle", hint: "try again later; the fault is on the server's side", retryable: true };
  }
}

/** Undefined when another try cannot help or must wait too long. Half of the delay is chance, so that parallel agents do not come back together. */
function delayBefore(failure: Failure, attempts: number, policy: RetryPolicy, random: number): number | undefined {
  if (!failure.retryable) return undefined;
  if (failure.retryAfterMs) return failure.retryAfterMs > policy.longestWaitMs ? undefined : failure.retryAfterMs;
  const full = Math.min(policy.longestDelayMs, policy.firstDelayMs * 2 ** (attempts - 1));
  return Math.round(full * (0.5 + random / 2));
}

function succeeded({ collected }: Attempt, spend: Spend): ModelReply {
  const stop = stopOf(collected);
  return {
    ok: true,
    message: { role: "assistant", content: collected.parts },
    text: textOf(collected),
    toolCalls: collected.calls,
    stop,
    ...spend,
  };
}

function failed(failure: Failure, partialText: string, spend: Spend, now: number): ModelFailure {
  const { kind, message, hint, retryAfterMs } = failure;
  const resetAt = retryAfterMs === undefined ? null : new Date(now + retryAfterMs).toISOString();
  return { ok: false, kind, message, hint, resetAt, partialText, ...spend };
}

/** Adds what an attempt used. A failed one that had begun to answer is billed as well: its output is estimated from what arrived. */
function add(spend: Spend, call: ModelCall, attempt: Attempt, prices: PriceTable | undefined): Spend {
  const { collected, end } = attempt;
  const began = end.how === "done" || collected.characters > 0 || collected.promptUsage !== undefined;
  const known = end.how === "done" ? collected.usage : undefined;
  const guess = (): Tokens => ({ ...(collected.promptUsage ?? { input: estimatePrompt(call) }), output: estimateTokens(collected.characters) });
  const usage = known ?? (began ? guess() : { input: 0, output: 0 });
  const cost = costOf(call.model, usage, prices);
  return {
    tokens: sum(spend.tokens, usage),
    costUsd: cost === null || spend.costUsd === null ? null : spend.costUsd + cost,
    // A call that was given up before its answer began may be billed too, by an amount nobody told us.
    costEstimated: spend.costEstimated || (known === undefined && (began || end.how === "aborted" || end.how === "timeout")),
    attempts: spend.attempts + 1,
  };
}

function sum(a: Tokens, b: Tokens): Tokens {
  const read = (a.cache_read ?? 0) + (b.cache_read ?? 0);
  const write = (a.cache_write ?? 0) + (b.cache_write ?? 0);
  return { input: a.input + b.input, output: a.output + b.output, ...(read > 0 ? { cache_read: read } : {}), ...(write > 0 ? { cache_write: write } : {}) };
}

/** The keys, and the texts of the conversation that a server might quote in an error. */
function secretsOf(provider: Provider, call: ModelCall): string[] {
  const texts = [call.system, ...call.messages.flatMap((m) => (m.role === "user" ? [m.content] : m.role === "tool" ? m.results.map((r) => r.output) : []))];
  return [provider.apiKey, provider.authToken, ...texts.filter((t) => t.length >= 16)].filter((s) => s !== undefined).sort((a, b) => b.length - a.length);
}
