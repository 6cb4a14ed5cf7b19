import { inertLine } from "../lib/inert.ts";
import { buildTrace, type TraceNode } from "../session/build-trace.ts";
import type { ReadSession } from "../session/read-session.ts";
import { count, milliseconds } from "./figures.ts";

/** The tree of a session for a person: who started whom, how long it took, what went wrong. */
export function traceLines(session: Pick<ReadSession, "metadata" | "status">): string[] {
  const { root } = buildTrace(session);
  return [
    nodeLine(root),
    ...detailLines(root).map((line) => `${root.children.length > 0 ? "│ " : "  "} ${line}`),
    ...childLines(root, Date.parse(root.started_at), ""),
    ...session.metadata.approvals.filter((one) => one.scope === "session").map((one) => allowedLine(one, session.metadata.approvals)),
  ];
}

type Approval = ReadSession["metadata"]["approvals"][number];

/** What a person allowed for the whole session, how often that was used, and whether it still holds. */
function allowedLine(grant: Approval, all: readonly Approval[]): string {
  const uses = all.filter((one) => one.id === grant.id && one.by === "session").length;
  const state = typeof grant.revoked_at === "string" ? "revoked" : `\`cru inbox revoke ${inertLine(grant.id, 16)}\` takes it back`;
  return `allowed for the session: [${inertLine(String(grant.agent ?? ""), 64)}] ${inertLine(String(grant.grant ?? ""), 200)} (used ${count(uses)}×, ${state})`;
}

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
