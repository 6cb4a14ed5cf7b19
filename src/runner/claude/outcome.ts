import type { AgentOutput } from "../../contract/agent-output.ts";
import type { Outcome, OutcomeReason } from "../../contract/runner.ts";
import { inertLine } from "../../lib/inert.ts";
import { retryAfterMs } from "../../llm/retry-after.ts";
import { checkAgentOutput, extractAgentOutput } from "../extract-agent-output.ts";
import type { ProcessEnd } from "./conversation.ts";
import { amount, type Message, text } from "./message.ts";
import { addUsage } from "./usage.ts";

/** When a limit does not say when it ends. */
const WAIT_MS = 60_000;
const LOGIN_HINT = "check ANTHROPIC_API_KEY, or log in again: run claude once";

type Ending = Pick<Outcome, "status"> & { reason: OutcomeReason; message?: string; output?: AgentOutput; resetAt?: Date; inboxId?: string };

/** One ended process as an outcome. The exit code alone says nothing: the CLI ends with 0 although tools were refused, and with a "success" that is an error. */
export function outcomeOf(end: ProcessEnd, options: { expectsOutput: boolean }): Outcome {
  const ending = stoppedEnding(end) ?? (end.result === undefined ? silentEnding(end) : resultEnding(end, end.result, options));
  const { tokens, costUsd, estimated } = addUsage(end.usage);
  return {
    status: ending.status,
    reason: ending.reason,
    text: text(end.result?.result),
    output: ending.output ?? null,
    tokens,
    costUsd,
    costEstimated: estimated,
    error: ending.message === undefined ? null : { type: ending.reason, message: inertLine(ending.message, 2000) },
    denials: end.denials,
    ...(ending.resetAt === undefined ? {} : { resetAt: ending.resetAt.toISOString() }),
    ...(ending.inboxId === undefined ? {} : { inboxId: ending.inboxId }),
  };
}

function stoppedEnding({ stopped, failure }: ProcessEnd): Ending | undefined {
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
      return { status: "failed", reason: "auth", message: `the model's server refused the login (${failure?.status ?? 401}); ${LOGIN_HINT}` };
    case "ungated":
      return { status: "failed", reason: "start_failed", message: "this version of claude does not take our gates; nothing was run" };
    case "suspended":
      return { status: "blocked", reason: "suspended", message: `it waits for an answer: ${stopped.inboxId}`, inboxId: stopped.inboxId };
    case "parked":
      return parked(stopped.status, stopped.resetAt);
  }
}

function parked(status: number, resetAt: Date): Ending {
  const reason = status === 529 ? "overloaded" : "rate_limited";
  return { status: "blocked", reason, resetAt, message: `${reason === "overloaded" ? "the model's server is overloaded" : "a usage limit was reached"}; it can go on at ${resetAt.toISOString()}` };
}

/** No result line: the process died, or went without a word. */
function silentEnding({ exit, stderr }: ProcessEnd): Ending {
  const said = stderr.trim() === "" ? "" : `: ${stderr.trim().split("\n").slice(-5).join(" ")}`;
  if (exit.failure !== null) return { status: "failed", reason: "start_failed", message: exit.failure.message };
  if (exit.code === 0) return { status: "failed", reason: "no_result", message: `the agent ended without a result${said}` };
  const how = exit.signal ?? (exit.code !== null && exit.code > 128 ? `signal ${exit.code - 128}` : `exit ${exit.code ?? "unknown"}`);
  return { status: "failed", reason: "crashed", message: `the agent program died (${how})${said}` };
}

function resultEnding(end: ProcessEnd, result: Message, options: { expectsOutput: boolean }): Ending {
  const said = text(result.result) || firstError(result);
  if (result.subtype === "error_max_turns") return { status: "partial", reason: "max_turns", message: said };
  if (result.subtype === "error_max_budget_usd") return { status: "blocked", reason: "budget", message: "the budget for this agent is used up" };
  if (result.stop_reason === "refusal") return { status: "failed", reason: "refusal", message: said };
  if (result.is_error === true || result.subtype !== "success") return errorEnding(end, result, said);
  if (!options.expectsOutput) return end.lastDenied ? { status: "denied", reason: "denied" } : { status: "completed", reason: "completed" };
  return outputEnding(end, result);
}

function errorEnding(end: ProcessEnd, result: Message, said: string): Ending {
  const status = amount(result.api_error_status);
  if (status === 401 || status === 403 || /not logged in|\/login/i.test(said)) return { status: "failed", reason: "auth", message: `${said}; ${LOGIN_HINT}` };
  const epoch = /limit reached\|(\d{9,11})/.exec(said)?.[1];
  if (status === 429 || status === 529 || epoch !== undefined) {
    const wait = retryAfterMs(end.failure?.headers ?? {}, Date.now()) ?? WAIT_MS;
    return parked(status, new Date(epoch === undefined ? Date.now() + wait : Number(epoch) * 1000));
  }
  return { status: "failed", reason: "api_error", message: said === "" ? "the agent ended with an error" : said };
}

/** The CLI's own structured output when it has one, else the last json block of the final message; never anything that was said earlier. */
function outputEnding(end: ProcessEnd, result: Message): Ending {
  const found = result.structured_output === undefined ? extractAgentOutput(text(result.result)) : checkAgentOutput(result.structured_output);
  if (!found.ok) return { status: "failed", reason: "invalid_output", message: found.fault };
  const { output } = found;
  if (output.success) return { status: "completed", reason: "completed", output };
  const message = output.error ?? output.summary;
  return end.lastDenied ? { status: "denied", reason: "denied", output, message } : { status: "failed", reason: "reported_failure", output, message };
}

function firstError(result: Message): string {
  return Array.isArray(result.errors) ? text(result.errors[0]) : "";
}
