import { join } from "node:path";
import { findPaths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { problemText } from "../../contract/problem.ts";
import { inertLine } from "../../lib/inert.ts";
import { buildTrace } from "../../session/build-trace.ts";
import { findSession } from "../../session/list-sessions.ts";
import { readSession } from "../../session/read-session.ts";
import type { Run } from "../command.ts";
import { cost, count } from "../figures.ts";
import { traceLines } from "../trace-lines.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const paths = findPaths(cwd, env);
  const id = findSession(paths, args[0] ?? "");
  const { session, problems } = await readSession(join(paths.project.sessions, id));
  if (session === undefined) throw new CruError("failed", `session ${id} cannot be read: ${problems[0]?.message ?? ""}`);
  const trace = buildTrace(session);
  if (options.json === true) {
    printJson(io, { ...trace, session_id: id, status: session.status, allowed: session.metadata.approvals.filter((one) => one.scope === "session") });
    return 0;
  }
  for (const problem of problems) io.err(`${inertLine(problemText(problem))}\n`);
  const { tokens, cost_usd } = session.metadata;
  io.out(`trace ${trace.trace_id} · session ${id} · ${session.status} · ${count(tokens.input + tokens.output)} tok · ${cost(cost_usd)}\n`);
  for (const line of traceLines(session)) io.out(`${line}\n`);
  return 0;
};
