import type { SessionMetadata, TraceEntry } from "../contract/session.ts";
import type { ReadSession } from "./read-session.ts";

export type TraceNode = Pick<TraceEntry, "agent" | "model" | "status" | "started_at" | "duration_ms" | "tokens" | "cost_usd" | "error"> & {
  span_id: string;
  parent_chain: string[];
  /** What the parent was about when it started this one. */
  parent_attempt: string | null;
  task: string;
  file: string;
  children: TraceNode[];
};

export type Trace = { trace_id: string; root: TraceNode };

/** Who started whom, in the order of the spawns. Agents of an interrupted session that have no end are `interrupted`. */
export function buildTrace(session: Pick<ReadSession, "metadata" | "status">): Trace {
  const { metadata, status } = session;
  const ended = status !== "running" && status !== "waiting";
  const entries = metadata.trace.map((entry) => (entry.status === "running" && ended ? { ...entry, status: status === "interrupted" ? "interrupted" : status } : entry));
  const rootEntry = entries.find((e) => e.parent_span_id === null);
  const root = rootEntry === undefined ? beforeItsAgent(metadata, status) : node(rootEntry);
  const nodes = new Map<string, TraceNode>(rootEntry === undefined ? [] : [[rootEntry.span_id, root]]);
  for (const entry of entries) {
    if (entry === rootEntry || nodes.has(entry.span_id)) continue;
    const one = node(entry);
    // A parent always starts before its child; one that is not known hangs below the root.
    (nodes.get(entry.parent_span_id ?? "") ?? root).children.push(one);
    nodes.set(entry.span_id, one);
  }
  return { trace_id: metadata.trace_id, root };
}

function node(entry: TraceEntry): TraceNode {
  const { agent, model, status, started_at, duration_ms, tokens, cost_usd, error, span_id, parent_chain, parent_attempt, task, file } = entry;
  return { agent, model, status, started_at, duration_ms, tokens, cost_usd, error, span_id, parent_chain, parent_attempt, task, file, children: [] };
}

function beforeItsAgent(metadata: SessionMetadata, status: string): TraceNode {
  const { primary, started_at, tokens, cost_usd, request } = metadata;
  return {
    agent: primary.agent, model: primary.model, status, started_at, duration_ms: null, tokens, cost_usd, error: null, span_id: "",
    parent_chain: ["user", primary.agent], parent_attempt: null, task: request, file: "session.md", children: [],
  };
}
