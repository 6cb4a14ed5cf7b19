import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import type { CruEvent } from "../contract/event.ts";
import type { ModelSource } from "../contract/model.ts";
import type { SessionMetadata, TaskStart } from "../contract/session.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import type { Clock } from "../lib/clock.ts";
import { writing } from "../lib/disk-fault.ts";
import { openJsonl, repairJsonl } from "../lib/jsonl.ts";
import { acquireLock, type Lock } from "../lib/lock.ts";
import { currentOwner } from "../lib/owner.ts";
import { createRedactor } from "../lib/redact.ts";
import { datedSlug, makeUniqueFolder } from "../lib/slug.ts";
import { newTraceId } from "../lib/trace-id.ts";
import { startConversation } from "./conversation.ts";
import { startFold } from "./fold-events.ts";
import { findSession } from "./list-sessions.ts";
import { readForWriting } from "./read-session.ts";
import { createWriter, type SessionWriter } from "./session-writer.ts";

export type SessionInput = {
  request: string;
  agent: string;
  /** Of the agent's definition: its hash. */
  version: string;
  model: string;
  modelSource: ModelSource;
  runner: string;
  traceId?: string;
  /** Set when a run opens the session for one of its steps. */
  workflowId?: string;
  /** Set when the session is work on a bead. */
  task?: TaskStart;
};

export type SessionDeps = {
  paths: Paths;
  /** Its secrets are kept out of everything that is written. */
  env: Record<string, string | undefined>;
  clock: Clock;
  warn(message: string): void;
};

/** Makes the folder and owns it until `finish`. */
export async function openSession(input: SessionInput, deps: SessionDeps): Promise<SessionWriter> {
  const redactor = createRedactor(deps.env);
  const now = deps.clock.now();
  const request = redactor.text(input.request);
  const id = writing("a session", () => {
    makeSessionsFolder(deps.paths.project.sessions);
    return makeUniqueFolder(deps.paths.project.sessions, datedSlug(now, request));
  });
  const folder = join(deps.paths.project.sessions, id);
  const lock = await lockSession(folder, id);
  const metadata: SessionMetadata = {
    schema: 1,
    session_id: id,
    trace_id: input.traceId ?? newTraceId(),
    status: "running",
    started_at: now.toISOString(),
    completed_at: null,
    request,
    depth: 0,
    owner: await currentOwner(),
    primary: { agent: input.agent, model: input.model, model_source: input.modelSource, version: input.version },
    runner: input.runner,
    ...(input.workflowId === undefined ? {} : { workflow_id: input.workflowId }),
    ...(input.task === undefined ? {} : { task: input.task }),
    subagents: [],
    tokens: { input: 0, output: 0 },
    cost_usd: 0,
    cost_estimated: false,
    queue: { max_depth_seen: 0, order: [] },
    permissions: [],
    model_overrides: [],
    approvals: [],
    denials: [],
    modifications: [],
    trace: [],
    waiting: [],
    active_ms: 0,
  };
  const writer = createWriter({
    folder, lock, redactor, clock: deps.clock, fold: startFold(metadata), conversation: startConversation(),
    events: openJsonl(join(folder, "events.jsonl")), nextSeq: 0,
  });
  writer.emit({ type: "session.started", session_id: id, request, agent: input.agent, ...(input.task === undefined ? {} : { task: input.task }) });
  return writer;
}

export type Resumed = {
  session: SessionWriter;
  /** Everything up to now, in order: `openCalls` of it are the calls whose end is not known. */
  events: CruEvent[];
};

/** Takes a session over that waits or whose owner is gone. A live owner keeps it: `locked`, with its pid. */
export async function resumeSession(idOrPrefix: string, deps: SessionDeps): Promise<Resumed> {
  const id = findSession(deps.paths, idOrPrefix);
  const folder = join(deps.paths.project.sessions, id);
  const lock = await lockSession(folder, id);
  try {
    const resumed = await takeOver(folder, id, lock, deps);
    resumed.session.emit({ type: "session.resumed", session_id: id });
    return resumed;
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** Puts down what a dead owner could not. False when somebody owns it after all. */
export async function recordInterruption(id: string, deps: SessionDeps): Promise<boolean> {
  const folder = join(deps.paths.project.sessions, id);
  let lock: Lock;
  try {
    lock = await lockSession(folder, id);
  } catch (error) {
    if (error instanceof CruError && error.code === "locked") return false;
    throw error;
  }
  try {
    (await takeOver(folder, id, lock, deps)).session.finish("interrupted");
    return true;
  } finally {
    lock.release();
  }
}

async function takeOver(folder: string, id: string, lock: Lock, deps: SessionDeps): Promise<Resumed> {
  const { fold, conversation, lastSeq, events, read } = readForWriting(folder, id);
  const path = join(folder, "events.jsonl");
  const warning = repairJsonl(path, read);
  if (warning !== undefined) deps.warn(warning);
  for (const name of readdirSync(folder)) if (/^\..+\.[0-9a-f]{16}\.tmp$/.test(name)) rmSync(join(folder, name), { force: true });
  fold.metadata.status = fold.metadata.waiting.length > 0 ? "waiting" : "running";
  fold.metadata.owner = await currentOwner();
  fold.metadata.completed_at = null;
  const session = createWriter({
    folder, lock, fold, conversation, redactor: createRedactor(deps.env), clock: deps.clock, events: openJsonl(path), nextSeq: lastSeq + 1,
  });
  return { session, events };
}

function lockSession(folder: string, id: string): Promise<Lock> {
  return acquireLock(join(folder, ".lock"), `session ${id}`);
}

function makeSessionsFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ignore = join(folder, ".gitignore");
  if (!existsSync(ignore)) atomicWrite(ignore, "*\n");
}
