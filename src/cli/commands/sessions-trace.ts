import { join } from "node:path";
import { findPaths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { problemText } from "../../contract/problem.ts";
import { inertLine } from "../../lib/inert.ts";
import { buildTrace, type TraceNode } from "../../session/build-trace.ts";
import { findSession } from "../../session/list-sessions.ts";
import { readSession } from "../../session/read-session.ts";
import type { Run } from "../command.ts";
import { cost, count, milliseconds } from "../figures.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const paths = findPaths(cwd, env);
  const id = findSession(paths, args[0] ?? "");
  const { session, problems } = await readSession(join(paths.project.sessions, id));
  if (session === undefined) throw new CruError("failed", `session ${id} cannot be read: ${problems[0]?.message ?? ""}`);
  const trace = buildTrace(session);
  if (options.json === true) {
    printJson(io, { ...trace, session_id: id, status: session.status });
    return 0;
  }
  for (const problem of problems) io.err(`${inertLine(problemText(problem))}\n`);
  const { tokens, cost_usd } = session.metadata;
  io.out(`trace ${trace.trace_id} · session ${id} · ${session.status} · ${count(tokens.input + tokens.output)} tok · ${cost(cost_usd)}\n`);
  io.out(`${nodeLine(trace.root)}\n`);
  for (const line of detailLines(trace.root)) io.out(`${trace.root.children.length > 0 ? "│ " : "  "} ${line}\n`);
  for (const line of childLines(trace.root, Date.parse(trace.root.started_at), "")) io.out(`${line}\n`);
  return 0;
};

function childLines(node: TraceNode, start: number, indent: string): string[] {
  return node.children.flatMap((child, i) => {
    const last = i === node.children.length - 1;
    const inner = `${indent}${last ? "   " : "│  "}`;
    return [
      `${indent}${last ? "└─" : "├─"} ${nodeLine(child)} · spawn ${i + 1}, ${offset(child, start)}`,
      ...detailLines(child).map((line) => `${inner}${line}`),
      ...childLines(child, start, inner),
    ];
  });
}

function nodeLine(node: TraceNode): string {
  const used = `${milliseconds(node.duration_ms)}, ${count(node.tokens.input + node.tokens.output)} tok`;
  return `[${inertLine(node.agent, 64)}] ${inertLine(node.model, 64)} (${used}) ${mark(node)}`;
}

function mark(node: TraceNode): string {
  if (node.error !== null) return `✗ ${inertLine(node.error.type, 64)}: ${inertLine(node.error.message, 200)}`;
  if (node.status === "completed") return "✓";
  return node.status === "running" || node.status === "waiting" || node.status === "partial" ? `… ${node.status}` : `✗ ${inertLine(node.status, 64)}`;
}

/** For what went wrong: how it came to run, and what the parent wanted of it. */
function detailLines(node: TraceNode): string[] {
  if (node.error === null) return [];
  const chain = `chain: ${node.parent_chain.map((name) => inertLine(name, 64)).join(" → ")}`;
  const attempt = node.parent_attempt === null ? [] : [`parent was attempting: ${inertLine(node.parent_attempt, 160)}`];
  return [chain, ...attempt, `task: ${inertLine(node.task, 160)}`, ...(node.file === "" ? [] : [`details: ${inertLine(node.file)}`])];
}

/** A clock that was set back shows as no time at all. */
function offset(node: TraceNode, start: number): string {
  return `+${count(Math.max(0, Date.parse(node.started_at) - start))} ms`;
}
