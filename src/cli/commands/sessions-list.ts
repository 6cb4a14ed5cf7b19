import { relative } from "node:path";
import { findPaths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { problemText } from "../../contract/problem.ts";
import { inertLine } from "../../lib/inert.ts";
import { listSessions, NEWEST } from "../../session/list-sessions.ts";
import type { ReadSession } from "../../session/read-session.ts";
import type { Run } from "../command.ts";
import { cost, count } from "../figures.ts";
import { dim, printJson } from "../print.ts";

export const run: Run = async ({ options, cwd, env, io }) => {
  const paths = findPaths(cwd, env);
  const { sessions, problems, more } = await listSessions(paths, { limit: limitOf(options) });
  if (options.json === true) {
    printJson(io, { sessions: sessions.map(row), problems, more });
    return 0;
  }
  for (const problem of problems) io.err(`${inertLine(problemText(problem))}\n`);
  if (sessions.length === 0) io.err("No sessions yet: `cru chat` starts one.\n");
  const width = Math.max(0, ...sessions.map((s) => s.id.length));
  if (io.outIsTerminal && sessions.length > 0) io.out(`${dim(`${"SESSION".padEnd(width)}  ${"STATUS".padEnd(11)}  ${"TOKENS".padStart(9)}      ${"COST".padStart(8)}  REQUEST`, { env, io })}\n`);
  for (const { id, status, metadata } of sessions) {
    const tokens = metadata.tokens.input + metadata.tokens.output;
    const head = `${inertLine(id).padEnd(width)}  ${status.padEnd(11)}  ${count(tokens).padStart(9)} tok  ${cost(metadata.cost_usd).padStart(8)}`;
    io.out(`${head}  ${inertLine(metadata.request, io.outIsTerminal ? Math.max(20, io.columns - width - 46) : undefined)}\n`);
  }
  if (more > 0) io.err(`${count(more)} older sessions: --all shows them\n`);
  return 0;

  function row(session: ReadSession): Record<string, unknown> {
    const { started_at, completed_at, primary, tokens, cost_usd, request, trace_id } = session.metadata;
    return {
      id: session.id, status: session.status, started_at, completed_at, model: primary.model, tokens, cost_usd, path: relative(paths.root, session.folder),
      agent: primary.agent, request, trace_id,
    };
  }
};

function limitOf(options: Record<string, unknown>): number {
  if (options.all === true) return Number.MAX_SAFE_INTEGER;
  if (options.limit === undefined) return NEWEST;
  const limit = Number(options.limit);
  if (!Number.isSafeInteger(limit) || limit < 1) throw new CruError("usage", `--limit needs a number of sessions, not '${String(options.limit)}'`);
  return limit;
}
