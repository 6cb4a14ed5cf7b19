import type { CruEvent } from "../contract/event.ts";
import type { SessionMetadata, TraceEntry } from "../contract/session.ts";
import type { Tokens } from "../contract/usage.ts";

type Started = Extract<CruEvent, { type: "agent.started" }>;
type Completed = Extract<CruEvent, { type: "agent.completed" }>;
type Usage = Extract<CruEvent, { type: "agent.usage" }>;
type Closed = Extract<CruEvent, { type: "inbox.closed" }>;

export type Fold = {
  metadata: SessionMetadata;
  /** Spans whose use was counted call by call; their own total is not added again. */
  metered: Set<string>;
  /** A resumed primary that goes on under another span. */
  sameAs: Map<string, string>;
};

/** Metadata is what the events add up to; after a crash it is added up again. */
export function startFold(metadata: SessionMetadata): Fold {
  return { metadata, metered: new Set(), sameAs: new Map() };
}

export function foldEvent(fold: Fold, event: CruEvent): void {
  const { metadata } = fold;
  switch (event.type) {
    case "agent.queued":
      metadata.queue.max_depth_seen = Math.max(metadata.queue.max_depth_seen, event.depth);
      break;
    case "agent.started":
      foldStarted(fold, event);
      break;
    case "agent.usage":
      foldUsage(fold, event);
      break;
    case "agent.completed":
      foldCompleted(fold, event);
      break;
    case "agent.process":
      if (entryOf(fold, event.span_id)?.depth === 0) metadata.process = { version: event.version, external_session: event.external_session, sandboxed: event.sandboxed };
      break;
    case "task.completed": {
      const { bead_id, reason, summary, branch, base, commit, changed_files } = event;
      metadata.task = { in_place: branch === null, ...metadata.task, bead_id, reason, summary, branch, base, commit, changed_files };
      break;
    }
    case "inbox.opened":
      metadata.waiting.push({ id: event.id, kind: event.kind, title: event.title });
      break;
    case "inbox.closed":
      foldClosed(metadata, event);
      break;
    case "inbox.reused":
      metadata.approvals.push({ id: event.id, action: event.title, by: "session", at: event.ts, grant: event.grant });
      break;
    case "inbox.revoked":
      for (const one of metadata.approvals) if (one.id === event.id && one.scope === "session") one.revoked_at = event.ts;
      break;
    default:
  }
  if (metadata.status === "running" || metadata.status === "waiting") metadata.status = metadata.waiting.length > 0 ? "waiting" : "running";
}

function foldStarted(fold: Fold, event: Started): void {
  const { metadata } = fold;
  const span = event.span_id ?? "";
  const before = event.depth === 0 ? metadata.trace.find((e) => e.depth === 0) : metadata.trace.find((e) => e.span_id === span);
  if (before !== undefined) {
    if (before.span_id !== span) fold.sameAs.set(span, before.span_id);
    Object.assign(before, { status: "running", completed_at: null, error: null, model: event.model });
    return;
  }
  metadata.trace.push({
    trace_id: event.trace_id,
    span_id: span,
    parent_span_id: event.parent_span_id,
    agent: event.agent,
    parent_chain: event.parent_chain,
    depth: event.depth,
    model: event.model,
    model_source: modelSource(event.model_source),
    status: "running",
    started_at: event.ts,
    completed_at: null,
    duration_ms: null,
    tokens: { input: 0, output: 0 },
    cost_usd: 0,
    task: event.task,
    ...(event.task_id === undefined ? {} : { task_id: event.task_id }),
    parent_attempt: event.parent_attempt ?? null,
    error: null,
    file: event.depth === 0 ? "session.md" : "",
  });
  metadata.permissions.push({
    agent: event.agent, span_id: span, granted: event.permissions, inherited: event.inherited ?? false, reduced: event.reduced ?? [],
  });
  if (event.model_source === "override") metadata.model_overrides.push({ agent: event.agent, span_id: span, model: event.model });
  if (event.depth === 0) return;
  metadata.depth = Math.max(metadata.depth, event.depth);
  metadata.queue.order.push(event.task_id === undefined ? event.agent : `${event.agent}-${event.task_id}`);
}

function foldUsage(fold: Fold, event: Usage): void {
  const entry = entryOf(fold, event.span_id);
  if (entry !== undefined) {
    fold.metered.add(entry.span_id);
    entry.tokens = add(entry.tokens, event.tokens);
    entry.cost_usd = addCost(entry.cost_usd, event.cost_usd);
  }
  if (event.estimated) fold.metadata.cost_estimated = true;
  total(fold.metadata);
}

function foldCompleted(fold: Fold, event: Completed): void {
  const entry = entryOf(fold, event.span_id);
  if (entry === undefined) return;
  entry.status = event.status;
  entry.completed_at = notBefore(event.ts, entry.started_at);
  entry.duration_ms = (entry.duration_ms ?? 0) + Math.max(0, event.duration_ms);
  entry.error = event.error;
  if (!fold.metered.has(entry.span_id)) {
    entry.tokens = event.tokens;
    entry.cost_usd = event.cost_usd;
  }
  if (event.file !== undefined && entry.depth > 0) {
    entry.file = event.file;
    const id = event.file.replace(/\.md$/, "");
    if (!fold.metadata.subagents.includes(id)) fold.metadata.subagents.push(id);
  }
  total(fold.metadata);
}

function foldClosed(metadata: SessionMetadata, event: Closed): void {
  const question = metadata.waiting.find((q) => q.id === event.id);
  metadata.waiting = metadata.waiting.filter((q) => q.id !== event.id);
  if (question?.kind === "question" || question?.kind === "guidance" || event.status === "withdrawn") return;
  const grant = event.grant === undefined ? {} : { scope: "session", grant: event.grant, agent: event.agent };
  const record = { id: event.id, action: question?.title ?? event.id, by: event.by, at: event.ts, ...grant };
  if (event.decision !== "approve") metadata.denials.push({ ...record, reason: event.text === "" ? event.status : event.text });
  else if (event.after === undefined) metadata.approvals.push(record);
  else metadata.modifications.push({ ...record, before: event.before, after: event.after });
}

function entryOf(fold: Fold, span: string | undefined): TraceEntry | undefined {
  if (span === undefined) return fold.metadata.trace.find((e) => e.depth === 0);
  const known = fold.sameAs.get(span) ?? span;
  return fold.metadata.trace.find((e) => e.span_id === known);
}

function total(metadata: SessionMetadata): void {
  metadata.tokens = metadata.trace.reduce<Tokens>((sum, entry) => add(sum, entry.tokens), { input: 0, output: 0 });
  metadata.cost_usd = metadata.trace.reduce<number | null>((sum, entry) => addCost(sum, entry.cost_usd), 0);
}

function add(a: Tokens, b: Tokens): Tokens {
  const cache = (x: number | undefined, y: number | undefined): number | undefined => (x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0));
  const [read, write] = [cache(a.cache_read, b.cache_read), cache(a.cache_write, b.cache_write)];
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    ...(read === undefined ? {} : { cache_read: read }),
    ...(write === undefined ? {} : { cache_write: write }),
  };
}

/** One unknown part makes the sum unknown. Rounded to a millionth of a cent, so that sums stay readable. */
function addCost(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.round((a + b) * 1e8) / 1e8;
}

function modelSource(word: string): TraceEntry["model_source"] {
  return word === "definition" || word === "override" ? word : "default";
}

/** ISO times sort as text; a clock that was set back never makes an end before its start. */
export function notBefore(time: string, start: string): string {
  return time < start ? start : time;
}
