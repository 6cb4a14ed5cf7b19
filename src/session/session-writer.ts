import { join } from "node:path";
import type { CruEvent, Emit, NewEvent } from "../contract/event.ts";
import type { SessionMetadata, SessionStatus, SubagentResult } from "../contract/session.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import type { Clock } from "../lib/clock.ts";
import { writing } from "../lib/disk-fault.ts";
import type { JsonlFile } from "../lib/jsonl.ts";
import type { Lock } from "../lib/lock.ts";
import type { Redactor } from "../lib/redact.ts";
import type { Conversation } from "./conversation.ts";
import { type Fold, foldEvent, notBefore } from "./fold-events.ts";
import { renderResult, resultName } from "./result-file.ts";
import { renderSession } from "./session-file.ts";
import { createTaskIds } from "./task-ids.ts";
import { holdStreams } from "./stream-events.ts";

/** The one writer of a session folder, alive while this process owns the session. Everything is redacted before it is written. */
export type SessionWriter = {
  id: string;
  traceId: string;
  folder: string;
  /** Written at once; synced to the disk at waits and ends. */
  emit: Emit;
  /** A task id that makes this agent's result file unique. The same key gives the same id, after a restart too. */
  taskId(agent: string, key: string): string;
  /** Writes a subagent's file; the returned name is what `agent.completed` carries as `file`. */
  writeResult(result: SubagentResult): string;
  metadata(): SessionMetadata;
  /** Last words: `waiting` and `blocked` can be resumed like `interrupted`. Frees the session for other processes. */
  finish(status: Exclude<SessionStatus, "running">): SessionMetadata;
};

export type WriterParts = {
  folder: string;
  fold: Fold;
  conversation: Conversation;
  events: JsonlFile;
  nextSeq: number;
  lock: Lock;
  clock: Clock;
  redactor: Redactor;
};

const SYNCED = new Set<CruEvent["type"]>(["session.started", "session.completed", "agent.completed", "inbox.opened", "inbox.closed"]);
const IN_METADATA = new Set<CruEvent["type"]>([
  "session.started", "session.resumed", "agent.queued", "agent.started", "agent.completed", "agent.usage", "inbox.opened", "inbox.closed",
  "inbox.reused", "inbox.revoked", "agent.process", "task.completed",
]);
/** Come by the thousand; to lose the last of them with the process is as if they had not been read yet. */
const STREAMED = new Set<CruEvent["type"]>(["agent.output", "agent.thinking", "agent.stderr", "agent.raw"]);
const ENDED = new Set<SessionStatus>(["completed", "failed", "cancelled"]);
/** A text longer than this is not rewritten for each line that is added. */
const LONG_TEXT = 256 * 1024;
const LONG_TEXT_EVERY_MS = 2000;

export function createWriter(parts: WriterParts): SessionWriter {
  const { folder, fold, conversation, events, clock, redactor } = parts;
  const { metadata } = fold;
  const id = metadata.session_id;
  const what = `session ${id}`;
  const work = startStopwatch(metadata.active_ms, clock.monotonicMs);
  const taskId = createTaskIds(id);
  const stamp = stamps(clock);
  let seq = parts.nextSeq;
  let wroteText = Number.NEGATIVE_INFINITY;
  let open = true;

  const save = (sync: boolean): void => {
    metadata.active_ms = work.ms();
    atomicWrite(join(folder, "metadata.json"), `${JSON.stringify(metadata, null, 2)}\n`, { mode: 0o600, sync });
  };
  const saveText = (options: { sync: boolean; always: boolean }): void => {
    if (!options.always && conversation.size() > LONG_TEXT && clock.monotonicMs() - wroteText < LONG_TEXT_EVERY_MS) return;
    wroteText = clock.monotonicMs();
    atomicWrite(join(folder, "session.md"), renderSession(metadata, conversation.text()), { mode: 0o600, sync: options.sync });
  };
  const record = (event: NewEvent, isClean = false): void => {
    const full = { v: 1, ts: stamp(), seq, trace_id: metadata.trace_id, ...(isClean ? event : redactor.value(event)) } as CruEvent;
    events.append(full, { sync: SYNCED.has(event.type), soon: STREAMED.has(event.type) });
    seq++;
    foldEvent(fold, full);
    work.set(isWork(full, metadata) ?? work.runs(), { waits: metadata.waiting.length > 0 });
    const spoke = conversation.add(full);
    if (IN_METADATA.has(event.type)) save(false);
    if (spoke) saveText({ sync: false, always: false });
  };
  const streams = holdStreams(redactor, record);

  return {
    id,
    traceId: metadata.trace_id,
    folder,
    emit(event) {
      // Late words of an agent that was cut off: the folder may belong to another process by now.
      if (open) writing(what, () => streams.add(event));
    },
    taskId,
    writeResult(result) {
      const clean = redactor.value({ ...result, completed_at: notBefore(result.completed_at, result.spawned_at) });
      const file = `${resultName(clean.agent, clean.task_id)}.md`;
      const text = renderResult(clean, { id, traceId: metadata.trace_id });
      if (open) writing(what, () => atomicWrite(join(folder, file), text, { mode: 0o600 }));
      return file;
    },
    metadata: () => structuredClone(metadata),
    finish(status) {
      if (open) writing(what, () => close(status));
      return structuredClone(metadata);
    },
  };

  function close(status: Exclude<SessionStatus, "running">): void {
    streams.flush();
    if (status !== "waiting") {
      record({ type: "session.completed", session_id: id, status, tokens: metadata.tokens, cost_usd: metadata.cost_usd, duration_ms: work.ms() });
    }
    open = false;
    metadata.status = status;
    metadata.owner = null;
    metadata.completed_at = ENDED.has(status) ? notBefore(clock.now().toISOString(), metadata.started_at) : null;
    events.sync();
    save(true);
    saveText({ sync: true, always: true });
    events.close();
    parts.lock.release();
  }
}

/** Whether agents work after this event; undefined when it says nothing about that. Between turns the session waits for the user. */
function isWork(event: CruEvent, { trace }: SessionMetadata): boolean | undefined {
  if (event.type === "agent.completed") return trace.find((entry) => entry.depth === 0)?.span_id === event.span_id ? false : undefined;
  return event.type === "session.turn" || ("span_id" in event && !event.type.startsWith("inbox.")) ? true : undefined;
}

/** Many events share a millisecond. */
function stamps(clock: Clock): () => string {
  let at = Number.NaN;
  let text = "";
  return () => {
    const now = clock.now();
    if (now.getTime() !== at) {
      at = now.getTime();
      text = now.toISOString();
    }
    return text;
  };
}

type Stopwatch = { ms(): number; runs(): boolean; set(runs: boolean, state: { waits: boolean }): void };

/** Stands still while nobody works and while a person is waited for. */
function startStopwatch(before: number, now: () => number): Stopwatch {
  let total = before;
  let since: number | undefined;
  let isOn = false;
  const ms = (): number => Math.round(total + (since === undefined ? 0 : Math.max(0, now() - since)));
  return {
    ms,
    runs: () => isOn,
    set(runs, { waits }) {
      if (runs === isOn && (since !== undefined) === (runs && !waits)) return;
      isOn = runs;
      total = ms();
      since = runs && !waits ? now() : undefined;
    },
  };
}
