import type { Outcome } from "../../contract/runner.ts";
import { type Ending, finishedEnding, limitEnding, LOGIN_HINT, parkedEnding, silentEnding, stoppedEnding, toOutcome } from "../ending.ts";
import { checkAgentOutput, extractAgentOutput } from "../extract-agent-output.ts";
import { amount, type Message, text } from "../message.ts";
import type { ProcessEnd } from "./conversation.ts";

/** One ended process as an outcome. The exit code alone says nothing: the CLI ends with 0 although tools were refused, and with a "success" that is an error. */
export function outcomeOf(end: ProcessEnd, options: { expectsOutput: boolean }): Outcome {
  const ending = stoppedEnding(end) ?? (end.result === undefined ? silentEnding(end.exit, end.stderr) : resultEnding(end, end.result, options));
  return toOutcome(ending, end, text(end.result?.result));
}

function resultEnding(end: ProcessEnd, result: Message, options: { expectsOutput: boolean }): Ending {
  const said = text(result.result) || firstError(result);
  if (result.subtype === "error_max_turns") return { status: "partial", reason: "max_turns", message: said };
  if (result.subtype === "error_max_budget_usd") return { status: "blocked", reason: "budget", message: "the budget for this agent is used up" };
  if (result.stop_reason === "refusal") return { status: "failed", reason: "refusal", message: said };
  if (result.is_error === true || result.subtype !== "success") return errorEnding(end, result, said);
  // The CLI's own structured output when it has one, else the last json block of the final message; never anything that was said earlier.
  const found = result.structured_output === undefined ? extractAgentOutput(text(result.result)) : checkAgentOutput(result.structured_output);
  return finishedEnding(options.expectsOutput ? found : undefined, end.lastDenied);
}

function errorEnding(end: ProcessEnd, result: Message, said: string): Ending {
  const status = amount(result.api_error_status);
  if (status === 401 || status === 403 || /not logged in|\/login/i.test(said)) return { status: "failed", reason: "auth", message: `${said}; ${LOGIN_HINT}` };
  const epoch = /limit reached\|(\d{9,11})/.exec(said)?.[1];
  const limited = epoch === undefined ? limitEnding(status, end.failure) : parkedEnding(status, new Date(Number(epoch) * 1000));
  return limited ?? { status: "failed", reason: "api_error", message: said === "" ? "the agent ended with an error" : said };
}

function firstError(result: Message): string {
  return Array.isArray(result.errors) ? text(result.errors[0]) : "";
}
