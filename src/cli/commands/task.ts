import type { TaskEnd, TaskRequest } from "../../app/task/task.ts";
import { CruError } from "../../contract/error.ts";
import type { CommandInput, Run } from "../command.ts";
import { printJson } from "../print.ts";
import { runnerOption, textOption, usdOption } from "../read-options.ts";
import { endJson, endText } from "../task/task-end-text.ts";
import { taskProgress } from "../task/task-progress.ts";

const EXIT: Record<TaskEnd["status"], number> = { completed: 0, failed: 1, waiting: 4, blocked: 4, interrupted: 130, cancelled: 130 };

export const run: Run = async (input) => {
  const { options, io } = input;
  const stop = new AbortController();
  const onSignal = (): void => stop.abort(new DOMException("interrupted", "AbortError"));
  for (const signal of SIGNALS) process.on(signal, onSignal);
  try {
    const end = await (isLive(input) ? onScreen(input, stop) : headless(input, stop));
    if (options.json === true) printJson(io, endJson(end));
    else endText(end, input);
    return EXIT[end.status];
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
  }
};

async function headless(input: CommandInput, stop: AbortController): Promise<TaskEnd> {
  const request = requestOf(input);
  const { runTask } = await import("../../app/task/run-task.ts");
  return runTask({ ...request, signal: stop.signal }, taskProgress(input.io));
}

/** Who sits in front of the terminal is asked there. */
async function onScreen(input: CommandInput, stop: AbortController): Promise<TaskEnd> {
  const request = requestOf(input);
  const [{ runTask }, { openTaskScreen }] = await Promise.all([import("../../app/task/run-task.ts"), import("../task/task-screen.ts")]);
  const screen = openTaskScreen({ colour: (input.env.NO_COLOR ?? "") === "", stop: () => stop.abort(new DOMException("interrupted", "AbortError")) });
  try {
    return await runTask({ ...request, wait: true, signal: stop.signal }, screen);
  } finally {
    screen.close();
  }
}

function isLive({ options, env, io }: CommandInput): boolean {
  return options.json !== true && options.input !== false && io.inIsTerminal && io.outIsTerminal && (env.TERM ?? "dumb") !== "dumb";
}

/** Again and again: an agent gets its time to end, and nothing may end before it. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

function requestOf({ args, options, cwd, env }: CommandInput): Omit<TaskRequest, "signal"> {
  const said = args.join(" ").trim();
  const request = {
    cwd, env, trust: options.trust === true, text: said === "" ? undefined : said, beadId: textOption(options.bead), acceptance: textOption(options.accept), inPlace: options.inPlace === true,
    runner: runnerOption(options.runner), model: textOption(options.model), agent: textOption(options.agent), budgetUsd: usdOption(options.budget, "--budget"), resume: textOption(options.resume), wait: options.wait === true,
  };
  if (request.resume !== undefined && (request.text ?? request.beadId ?? request.acceptance) !== undefined) {
    throw new CruError("usage", "--resume goes on with a task as it is", { hint: "leave out the words, --bead and --accept" });
  }
  if (request.resume === undefined && request.beadId === undefined && request.text === undefined) {
    throw new CruError("usage", "task needs words or a bead", { hint: 'for example: cru task "make the failing test pass", or cru task --bead ID' });
  }
  return request;
}
