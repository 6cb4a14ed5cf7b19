import type { ReplayReport } from "../../app/replay/replay-session.ts";
import { replaySession } from "../../app/replay/replay-session.ts";
import { inert, inertLine } from "../../lib/inert.ts";
import type { Io, Run } from "../command.ts";
import { count } from "../figures.ts";
import { printJson } from "../print.ts";

/** 0: every request was the same. 1: the first that was not, with what changed. */
export const run: Run = async ({ args, options, cwd, env, io }) => {
  const report = await replaySession({ id: args[0] ?? "", cwd, env });
  if (options.json === true) printJson(io, jsonOf(report));
  else print(report, io);
  return report.divergence === undefined ? 0 : 1;
};

function print(report: ReplayReport, io: Io): void {
  const { divergence } = report;
  io.out(`${inertLine(report.sessionId)}: ${count(report.calls)} of ${count(report.recordedCalls)} model calls the same, ${count(report.agents)} agents, ${count(report.results)} tool results, ${count(report.questions)} questions, ${count(report.turns)} turns\n`);
  if (divergence === undefined) {
    io.out("0 divergences\n");
    return;
  }
  const where = divergence.call === null ? `turn ${divergence.turn}` : `call ${divergence.call} of ${report.recordedCalls} (turn ${divergence.turn})`;
  io.out(`✗ first divergence at ${where}, agent ${inertLine(divergence.agent, 64)}: ${inertLine(divergence.message, 300)}\n`);
  for (const { what, diff } of divergence.changes) io.out(`\n${what}:\n${inert(diff)}`);
}

function jsonOf({ sessionId, recordedCalls, divergence, ...figures }: ReplayReport): unknown {
  return { session_id: sessionId, ...figures, recorded_calls: recordedCalls, divergences: divergence === undefined ? 0 : 1, divergence: divergence ?? null };
}
