import type { Outcome } from "../../contract/runner.ts";
import { type Ending, finishedEnding, limitEnding, LOGIN_HINT, silentEnding, stoppedEnding, toOutcome } from "../ending.ts";
import { extractAgentOutput } from "../extract-agent-output.ts";
import { text } from "../message.ts";
import type { AcpEnd } from "./conversation.ts";

const AUTH_REQUIRED = -32000;

/** One ended agent as an outcome. The protocol's answer to the prompt decides; how the program ended counts only without one. */
export function outcomeOf(end: AcpEnd, options: { expectsOutput: boolean }): Outcome {
  return toOutcome(stoppedEnding(end) ?? answeredEnding(end, options), end, end.text);
}

function answeredEnding(end: AcpEnd, options: { expectsOutput: boolean }): Ending {
  if (end.error !== undefined) return errorEnding(end, end.error);
  switch (end.stopReason) {
    case undefined:
      return silentEnding(end.exit, end.stderr);
    case "end_turn":
      return finishedEnding(options.expectsOutput ? extractAgentOutput(end.text) : undefined, end.lastDenied);
    case "max_turn_requests":
      return { status: "partial", reason: "max_turns", message: "the agent reached its number of turns" };
    case "max_tokens":
      return { status: "partial", reason: "max_tokens", message: "the model reached its number of tokens" };
    case "refusal":
      return { status: "failed", reason: "refusal", message: end.text === "" ? "the model refused" : end.text };
    case "cancelled":
      // Nobody here cancelled it: it gave up, after a refusal or by itself.
      return end.lastDenied ? { status: "denied", reason: "denied", message: lastReason(end) } : { status: "failed", reason: "no_result", message: "the agent ended its turn as cancelled" };
    default:
      return { status: "failed", reason: "no_result", message: `the agent ended its turn with '${end.stopReason}', which says nothing` };
  }
}

function errorEnding(end: AcpEnd, { code, message, data }: NonNullable<AcpEnd["error"]>): Ending {
  const said = message.replace(/^Internal error: /, "") + (typeof data.details === "string" && !message.includes(data.details) ? `: ${data.details}` : "");
  const kind = text(data.errorKind);
  const status = Number(/\b(?:API Error:?|status(?: code)?:?|HTTP)\s*(\d{3})\b/i.exec(said)?.[1] ?? end.failure?.status ?? 0);
  if (code === AUTH_REQUIRED || status === 401 || status === 403 || kind === "authentication_failed" || /not logged in|\/login/i.test(said)) return { status: "failed", reason: "auth", message: `${said}; ${end.failure?.hint ?? LOGIN_HINT}` };
  if (/maximum budget/i.test(said)) return { status: "blocked", reason: "budget", message: "the budget for this agent is used up" };
  if (/maximum number of turns/i.test(said)) return { status: "partial", reason: "max_turns", message: said };
  const limited = limitEnding(status, end.failure) ?? (kind === "rate_limit" ? limitEnding(429, end.failure) : kind === "overloaded" ? limitEnding(529, end.failure) : undefined);
  return limited ?? { status: "failed", reason: "api_error", message: said };
}

function lastReason(end: AcpEnd): string {
  const last = end.denials.at(-1);
  return last === undefined ? "something was not allowed" : `${last.action}: ${last.reason}`;
}
