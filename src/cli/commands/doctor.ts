import type { Finding, FindingStatus } from "../../app/doctor/check.ts";
import { agentsCanRun, runDoctor } from "../../app/doctor/run-doctor.ts";
import { findPaths } from "../../config/paths.ts";
import { inertLine } from "../../lib/inert.ts";
import { runProgram } from "../../lib/subprocess.ts";
import type { CommandInput, Run } from "../command.ts";
import { printJson } from "../print.ts";

export const run: Run = async (input) => {
  const { cwd, env, io, options } = input;
  const checks = await runDoctor({ cwd, env, paths: findPaths(cwd, env), trust: options.trust === true, fix: options.fix === true }, { run: runProgram });
  if (options.json === true) printJson(io, { checks, agents_can_run: agentsCanRun(checks) });
  else io.out(asText(checks, input));
  return checks.some((check) => check.status === "fail") ? 1 : 0;
};

const COLOURS: Record<FindingStatus, number> = { ok: 32, info: 36, warn: 33, fail: 31 };

function asText(checks: readonly Finding[], input: CommandInput): string {
  const width = Math.max(...checks.map((check) => check.id.length));
  const indent = " ".repeat(width + 8);
  const lines = checks.flatMap(({ id, status, message, fix }) => [
    `${coloured(status.padEnd(4), status, input)}  ${id.padEnd(width)}  ${inertLine(message)}`,
    ...(fix === null || status === "ok" ? [] : [`${indent}→ ${inertLine(fix)}`]),
  ]);
  return `${lines.join("\n")}\n\n${verdict(checks)}\n`;
}

function verdict(checks: readonly Finding[]): string {
  const count = (status: FindingStatus): number => checks.filter((check) => check.status === status).length;
  const [fails, warnings] = [count("fail"), count("warn")];
  if (fails > 0) return `${fails} ${fails === 1 ? "thing" : "things"} must be fixed before Crucible works here${warnings === 0 ? "" : `; ${warnings} more would help`}.`;
  if (!agentsCanRun(checks)) {
    return "No agent can run here yet: `cru chat` and `cru task` need a model's key, a local model server, or an agent program.\n" +
      "  → export ANTHROPIC_API_KEY=…, or OPENAI_BASE_URL=http://127.0.0.1:11434/v1, or install and log in to `claude`; `cru demo` shows everything without one";
  }
  if (warnings > 0) return `Crucible works here; ${warnings} ${warnings === 1 ? "thing limits" : "things limit"} what it can do.`;
  return "Everything Crucible needs is here.";
}

function coloured(text: string, status: FindingStatus, { io, env }: CommandInput): string {
  const plain = !io.outIsTerminal || (env.NO_COLOR ?? "") !== "" || env.TERM === "dumb";
  return plain ? text : `\u001b[${COLOURS[status]}m${text}\u001b[39m`;
}
