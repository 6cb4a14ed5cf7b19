import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { CruError } from "../contract/error.ts";
import { type CruEvent, eventSchema } from "../contract/event.ts";
import type { Problem, ProblemCode } from "../contract/problem.ts";
import { type SessionMetadata, sessionMetadataSchema, type SessionStatus } from "../contract/session.ts";
import { type JsonlRead, readJsonl } from "../lib/jsonl.ts";
import { isAlive } from "../lib/owner.ts";
import { type Conversation, startConversation } from "./conversation.ts";
import { type Fold, foldEvent, startFold } from "./fold-events.ts";

export type ReadSession = {
  id: string;
  folder: string;
  metadata: SessionMetadata;
  /** As it is now: what a dead owner left `running` is `interrupted`. */
  status: SessionStatus;
};

/** One session, whatever state its files are in. Writes nothing. Undefined, with the reason, when there is nothing to read. */
export async function readSession(folder: string): Promise<{ session: ReadSession | undefined; problems: Problem[] }> {
  const path = join(folder, "metadata.json");
  const { metadata, problems } = readMetadata(path);
  if (metadata !== undefined) return { session: await shown(folder, metadata), problems };
  if (problems.some((p) => p.code === "record.newer")) return { session: undefined, problems };
  // Torn or missing: the events say the same.
  const { events } = readRecording(folder);
  const rebuilt = rebuild(events, basename(folder), undefined);
  if (rebuilt === undefined) return { session: undefined, problems: problems.length > 0 ? problems : [problem(path, "record.invalid", "nothing was recorded")] };
  return { session: await shown(folder, rebuilt.metadata), problems };
}

export type Recording = { events: CruEvent[]; problems: Problem[] };

/** Everything that happened, in order: what a resumed conversation and a replay are made of. */
export function readRecording(folder: string): Recording {
  const path = join(folder, "events.jsonl");
  return parseEvents(path, readJsonl(path, { version: 1 }));
}

/** Calls that a killed process left without a result: whether they ran is not known. */
export function openCalls(events: readonly CruEvent[]): Extract<CruEvent, { type: "agent.tool_call" }>[] {
  const open = new Map<string, Extract<CruEvent, { type: "agent.tool_call" }>>();
  for (const event of events) {
    if (event.type === "agent.tool_call") open.set(`${event.span_id} ${event.call_id}`, event);
    else if (event.type === "agent.tool_result") open.delete(`${event.span_id} ${event.call_id}`);
  }
  return [...open.values()];
}

export type ForWriting = { fold: Fold; conversation: Conversation; lastSeq: number; events: CruEvent[]; read: JsonlRead };

/** What the next owner goes on from: all of it is added up from the events again. */
export function readForWriting(folder: string, id: string): ForWriting {
  const path = join(folder, "events.jsonl");
  const read = readJsonl(path, { version: 1 });
  const { events } = parseEvents(path, read);
  const { metadata, problems } = readMetadata(join(folder, "metadata.json"));
  if (problems.some((p) => p.code === "record.newer")) throw new CruError("unsupported", problems[0]?.message ?? "", { hint: "update Crucible" });
  const fold = rebuild(events, id, metadata);
  if (fold === undefined) throw new CruError("failed", `nothing was recorded in session ${id}`, { hint: "start a new chat" });
  const conversation = startConversation();
  for (const event of events) conversation.add(event);
  const last = read.records.reduce((most, r) => (typeof r.seq === "number" ? Math.max(most, r.seq) : most), -1);
  return { fold, conversation, lastSeq: last, events, read };
}

async function shown(folder: string, metadata: SessionMetadata): Promise<ReadSession> {
  const running = metadata.status === "running" || metadata.status === "waiting";
  const lost = running && metadata.owner !== null && !(await isAlive(metadata.owner));
  return { id: basename(folder), folder, metadata, status: lost ? "interrupted" : metadata.status };
}

function readMetadata(path: string): { metadata: SessionMetadata | undefined; problems: Problem[] } {
  let value: unknown;
  try {
    value = JSON.parse(readSmall(path));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return { metadata: undefined, problems: [] };
    return { metadata: undefined, problems: [problem(path, code === undefined ? "record.invalid" : "file.unreadable", `it cannot be read (${code ?? "not JSON"})`)] };
  }
  const schema = (value as { schema?: unknown } | null)?.schema;
  if (typeof schema === "number" && schema > 1) {
    return { metadata: undefined, problems: [problem(path, "record.newer", `written by a newer Crucible (schema ${schema}, this one reads 1)`)] };
  }
  const parsed = sessionMetadataSchema.safeParse(value);
  if (parsed.success) return { metadata: parsed.data, problems: [] };
  const [issue] = parsed.error.issues;
  return { metadata: undefined, problems: [{ ...problem(path, "record.invalid", issue?.message ?? "invalid"), field: issue?.path.join(".") ?? "" }] };
}

const LARGEST = 64 * 1024 * 1024;

function readSmall(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > LARGEST) throw Object.assign(new Error("not a metadata file"), { code: stat.isFile() ? "EFBIG" : "ENOTSUP" });
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

function parseEvents(path: string, read: JsonlRead): Recording {
  const events: CruEvent[] = [];
  let unknown = 0;
  for (const record of read.records) {
    const parsed = eventSchema.safeParse(record);
    if (parsed.success) events.push(parsed.data);
    else unknown++;
  }
  const problems: Problem[] = [];
  if (unknown > 0) problems.push({ ...problem(path, "record.invalid", `${unknown} records are not known to this version`), severity: "warning" });
  if (read.fault !== undefined) {
    problems.push({ ...problem(path, "record.invalid", `${read.fault}; ${read.totalBytes - read.soundBytes} bytes are left out`), severity: "warning" });
  }
  return { events, problems };
}

/** Undefined when the events do not even say that a session began and no metadata does. */
function rebuild(events: readonly CruEvent[], id: string, known: SessionMetadata | undefined): Fold | undefined {
  const base = known ?? fromEvents(events, id);
  if (base === undefined) return undefined;
  const fold = startFold({
    ...base, depth: 0, subagents: [], tokens: { input: 0, output: 0 }, cost_usd: 0, cost_estimated: false, queue: { max_depth_seen: 0, order: [] },
    permissions: [], model_overrides: [], approvals: [], denials: [], modifications: [], trace: [], waiting: [],
  });
  for (const event of events) foldEvent(fold, event);
  return fold;
}

function fromEvents(events: readonly CruEvent[], id: string): SessionMetadata | undefined {
  const started = events.find((e) => e.type === "session.started");
  if (started === undefined) return undefined;
  const agent = events.find((e) => e.type === "agent.started" && e.depth === 0) as Extract<CruEvent, { type: "agent.started" }> | undefined;
  const ended = events.findLast((e) => e.type === "session.completed" || e.type === "session.resumed");
  const status = sessionMetadataSchema.shape.status.safeParse(ended?.type === "session.completed" ? ended.status : "interrupted");
  return {
    schema: 1, session_id: id, trace_id: started.trace_id, status: status.success ? status.data : "interrupted", started_at: started.ts,
    completed_at: ended?.type === "session.completed" ? ended.ts : null, request: started.request, depth: 0, owner: null,
    primary: { agent: started.agent, model: agent?.model ?? "", model_source: agent?.model_source ?? "default", version: agent?.definition_hash ?? "" },
    subagents: [], tokens: { input: 0, output: 0 }, cost_usd: 0, cost_estimated: false, queue: { max_depth_seen: 0, order: [] }, permissions: [],
    model_overrides: [], approvals: [], denials: [], modifications: [], trace: [], waiting: [], active_ms: ended?.type === "session.completed" ? ended.duration_ms : 0,
    ...(agent === undefined ? {} : { runner: agent.runner }), ...(started.task === undefined ? {} : { task: started.task }),
  };
}

function problem(path: string, code: ProblemCode, message: string): Problem {
  return { path, line: 1, column: 1, field: "", message, hint: "", severity: "error", code };
}
