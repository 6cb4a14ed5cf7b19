import type { AgentOutput } from "../contract/agent-output.ts";
import type { Outcome, OutcomeReason } from "../contract/runner.ts";
import { inertLine } from "../lib/inert.ts";
import type { ProgramEnd } from "../lib/subprocess.ts";
import { retryAfterMs } from "../llm/retry-after.ts";
import type { ModelFailureNote } from "../sandbox/model-proxy.ts";
import type { ExtractedOutput } from "./extract-agent-output.ts";
import { addUsage, type Usage } from "./usage.ts";

/** Why we ended a program, when it was us. */
export type Stopped =
  | { why: "cancelled" | "idle" | "time" | "auth" | "silent" }
  | { why: "ungated" | "budget"; message: string }
  | { why: "parked"; status: number; resetAt: Date }
  | { why: "suspended"; inboxId: string };

/** How a run ended, before the sums are added. */
export type Ending = Pick<Outcome, "status"> & { reason: OutcomeReason; message?: string; output?: AgentOutput; resetAt?: Date; inboxId?: string };

/** What every program that ran leaves for its outcome. */
export type RunFacts = {
  stopped: Stopped | undefined;
  usage: readonly Usage[];
  denials: { action: string; reason: string }[];
  /** The last decision of a gate was a no. */
  lastDenied: boolean;
  failure: ModelFailureNote | undefined;
};

export const LOGIN_HINT = "check ANTHROPIC_API_KEY, or log in again: run claude once";
/** A limit that ends sooner is left to the program's own retries. */
const PARK_AFTER_MS = 60_000;
/** When a limit does not say when it ends. */
const WAIT_MS = 60_000;

export function toOutcome(ending: Ending, facts: RunFacts, text: string): Outcome {
  const { tokens, costUsd, estimated } = addUsage(facts.usage);
  return {
    status: ending.status,
    reason: ending.reason,
    text,
    output: ending.output ?? null,
    tokens,
    costUsd,
    costEstimated: estimated,
    error: ending.message === undefined ? null : { type: ending.reason, message: inertLine(ending.message, 2000) },
    denials: facts.denials,
    ...(ending.resetAt === undefined ? {} : { resetAt: ending.resetAt.toISOString() }),
    ...(ending.inboxId === undefined ? {} : { inboxId: ending.inboxId }),
  };
}

/** Undefined when it was not us who ended it. */
export function stoppedEnding({ stopped, failure }: Pick<RunFacts, "stopped" | "failure">): Ending | undefined {
  switch (stopped?.why) {
    case undefined:
    case "silent":
      return undefined;
    case "cancelled":
      return { status: "cancelled", reason: "cancelled", message: "it was stopped" };
    case "idle":
      return { status: "timeout", reason: "idle", message: "timeout: the agent got no further for too long and was stopped" };
    case "time":
      return { status: "timeout", reason: "time", message: "timeout: the agent's time was over" };
    case "auth":
      return { status: "failed", reason: "auth", message: `the model's server refused the login (${failure?.status ?? 401}); ${failure?.hint ?? LOGIN_HINT}` };
    case "ungated":
      return { status: "failed", reason: "start_failed", message: stopped.message };
    case "budget":
      return { status: "blocked", reason: "budget", message: stopped.message };
    case "suspended":
      return { status: "blocked", reason: "suspended", message: `it waits for an answer: ${stopped.inboxId}`, inboxId: stopped.inboxId };
    case "parked":
      return parkedEnding(stopped.status, stopped.resetAt);
  }
}

export function parkedEnding(status: number, resetAt: Date): Ending {
  const reason = status === 529 ? "overloaded" : "rate_limited";
  return { status: "blocked", reason, resetAt, message: `${reason === "overloaded" ? "the model's server is overloaded" : "a usage limit was reached"}; it can go on at ${resetAt.toISOString()}` };
}

/** By what the server said of its limit; undefined for a failure that is none. */
export function limitEnding(status: number, failure: ModelFailureNote | undefined): Ending | undefined {
  if (status !== 429 && status !== 529) return undefined;
  return parkedEnding(status, new Date(Date.now() + (retryAfterMs(failure?.headers ?? {}, Date.now()) ?? WAIT_MS)));
}

/** What a failure of the model's server means for a program that would try again by itself: undefined to let it. */
export function stopForFailure(note: ModelFailureNote): Stopped | undefined {
  if (note.status === 401 || note.status === 403) return { why: "auth" };
  const wait = note.status === 429 || note.status === 529 ? retryAfterMs(note.headers, Date.now()) : undefined;
  return wait !== undefined && wait > PARK_AFTER_MS ? { why: "parked", status: note.status, resetAt: new Date(Date.now() + wait) } : undefined;
}

/** No result: the program died, or went without a word. */
export function silentEnding(exit: ProgramEnd, stderr: string): Ending {
  const said = stderr.trim() === "" ? "" : `: ${stderr.trim().split("\n").slice(-5).join(" ")}`;
  if (exit.failure !== null) return { status: "failed", reason: "start_failed", message: exit.failure.message };
  if (exit.code === 0) return { status: "failed", reason: "no_result", message: `the agent ended without a result${said}` };
  const how = exit.signal ?? (exit.code !== null && exit.code > 128 ? `signal ${exit.code - 128}` : `exit ${exit.code ?? "unknown"}`);
  return { status: "failed", reason: "crashed", message: `the agent program died (${how})${said}` };
}

/** A turn that ended well, by what its final message must hold. */
export function finishedEnding(found: ExtractedOutput | undefined, lastDenied: boolean): Ending {
  if (found === undefined) return lastDenied ? { status: "denied", reason: "denied" } : { status: "completed", reason: "completed" };
  if (!found.ok) return { status: "failed", reason: "invalid_output", message: found.fault };
  const { output } = found;
  if (output.success) return { status: "completed", reason: "completed", output };
  const message = output.error ?? output.summary;
  return lastDenied ? { status: "denied", reason: "denied", output, message } : { status: "failed", reason: "reported_failure", output, message };
}
