import { findPaths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import type { ChatEnd, OpenRequest } from "../../app/chat/chat-session.ts";
import { inert } from "../../lib/inert.ts";
import type { CommandInput, Io, Run } from "../command.ts";
import { printJson } from "../print.ts";
import { pipedInput } from "../piped-input.ts";
import { progressPrinter } from "../progress.ts";
import { rightsOption, runnerOption, textOption } from "../read-options.ts";

const EXIT: Record<ChatEnd["status"], number> = { completed: 0, failed: 1, waiting: 4, blocked: 4, interrupted: 130, cancelled: 130 };

export const run: Run = async (input) => {
  const { options, env } = input;
  const request: OpenRequest = {
    cwd: input.cwd, env, trust: options.trust === true, resume: await resumeOf(input), wait: options.wait === true, verbose: options.verbose === true,
    runner: runnerOption(options.runner), agent: textOption(options.agent), model: textOption(options.model), allow: rightsOption(options.allow, "--allow"), deny: rightsOption(options.deny, "--deny"),
    maxIterations: number(options.maxIterations, "--max-iterations", true), budgetUsd: number(options.budget, "--budget", false),
  };
  const mode = modeOf(input);
  if (mode === "print") return printOnce(input, request);
  const message = words(input);
  const live = { ...request, wait: true };
  if (mode === "plain") return (await import("../chat/plain-chat.ts")).plainChat({ request: live, message, io: input.io });
  return (await import("../chat/interactive-chat.ts")).interactiveChat({ request: live, message, colour: (env.NO_COLOR ?? "") === "" });
};

/** Which session to go on with. Looked at only when there is one, so that a new prompt stands at once. */
async function resumeOf({ options, cwd, env }: CommandInput): Promise<string | undefined> {
  const resume = textOption(options.resume);
  if (resume === undefined && options.continue !== true) return undefined;
  const { kindOfSession, newestChat } = await import("../../app/resume-command.ts");
  if (resume === undefined) return newestChat(cwd, env);
  if ((await kindOfSession(findPaths(cwd, env), resume)) === "task") throw new CruError("usage", `${resume} is a task`, { hint: `go on with \`cru task --resume ${resume}\`` });
  return resume;
}

/** A conversation needs a terminal, or `--plain` in so many words. */
function modeOf({ options, env, io }: CommandInput): "print" | "plain" | "interactive" {
  if (options.print === true || options.json === true || options.input === false) return "print";
  if (options.plain === true) return "plain";
  if (!io.inIsTerminal || !io.outIsTerminal) return "print";
  return (env.TERM ?? "dumb") === "dumb" ? "plain" : "interactive";
}

async function printOnce(input: CommandInput, request: OpenRequest): Promise<number> {
  const { options, io } = input;
  const message = await messageOf(input, request.resume);
  const stop = new AbortController();
  const onSignal = (): void => stop.abort(new DOMException("interrupted", "AbortError"));
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  try {
    const { runChat } = await import("../../app/chat/run-chat.ts");
    const end = await runChat({ ...request, message, signal: stop.signal }, progressPrinter(io, { verbose: request.verbose }));
    if (options.json === true) printJson(io, jsonOf(end));
    else print(end, io);
    return EXIT[end.status];
  } finally {
    process.removeListener("SIGINT", onSignal);
    process.removeListener("SIGTERM", onSignal);
  }
}

function print(end: ChatEnd, io: Io): void {
  if (end.steps !== "") io.out(`${inert(end.steps)}\n\n`);
  if (end.answer !== "") io.out(`${inert(end.answer)}\n`);
  const resume = `cru chat --resume ${end.sessionId}`;
  if (end.error !== null) io.err(`✗ ${end.error.type}: ${inert(end.error.message)}\n${end.hint === "" ? "" : `  → ${inert(end.hint)}\n`}`);
  if (end.inboxId !== null) io.err(`? a person is needed: \`cru inbox show ${end.inboxId}\`, answer it, then \`${resume}\`\n`);
  else if (end.status === "blocked") io.err(`${end.hint === "" ? "" : `${inert(end.hint)}\n`}→ go on with \`${resume}\`\n`);
  else if (end.status === "interrupted" || end.status === "failed") io.err(`→ go on with \`${resume}\`\n`);
}

function jsonOf(end: ChatEnd): unknown {
  return { session_id: end.sessionId, status: end.status, answer: end.answer, error: end.error, inbox_id: end.inboxId, hint: end.hint };
}

/** The words on the command line, then what is piped in. Going on without a word reads nothing. */
async function messageOf(input: CommandInput, resume: string | undefined): Promise<string | undefined> {
  const said = words(input);
  if (said === undefined && resume !== undefined) return undefined;
  const piped = await pipedInput({ patient: said === undefined });
  if (piped === undefined) input.io.err("note: standard input is open but nothing came, so only the message is sent; `</dev/null` avoids the wait\n");
  const all = [said ?? "", (piped ?? "").trim() === "" ? "" : (piped ?? "").trimEnd()].filter((part) => part !== "").join("\n\n");
  if (all !== "") return all;
  throw new CruError("usage", "chat needs a message", { hint: 'for example: cru chat -p "explain what this project does"' });
}

function words(input: CommandInput): string | undefined {
  const said = input.args.join(" ").trim();
  return said === "" ? undefined : said;
}

function number(value: unknown, flag: string, whole: boolean): number | undefined {
  if (value === undefined) return undefined;
  const n = Number(value);
  if (Number.isFinite(n) && n > 0 && (!whole || Number.isInteger(n))) return n;
  throw new CruError("usage", `${flag} takes a ${whole ? "whole " : ""}number above 0, not '${String(value)}'`);
}
