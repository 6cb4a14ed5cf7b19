import type { BeadStore } from "../../beads/bead-store.ts";
import { beadNotFound } from "../../beads/embedded-store.ts";
import type { Bead } from "../../contract/bead.ts";
import type { CruEvent, NewEvent } from "../../contract/event.ts";
import type { AgentIdentity } from "../../contract/runner.ts";
import { systemClock } from "../../lib/clock.ts";
import { ignoredFolder } from "../../lib/ignored-folder.ts";
import { acquireLock } from "../../lib/lock.ts";
import { newSpanId } from "../../lib/trace-id.ts";
import { openNotifier } from "../../notify/open-notifier.ts";
import { openSession, resumeSession } from "../../session/open-session.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { openBeads } from "../beads.ts";
import { watchForNotices } from "../chat/notices.ts";
import { sessionStateFolder } from "../choose-runner.ts";
import type { Attempt, Task } from "./attempt.ts";
import { confirmed, openOwnCheckout } from "./in-place.ts";
import { type Prepared, prepareTask } from "./prepare-task.ts";
import { eventsToKeep } from "./events-to-keep.ts";
import { sessionsOf, withdrawQuestions } from "./prior-attempts.ts";
import { abandon, settle } from "./settle.ts";
import { taskLockFile, watchForStop } from "./stop-requests.ts";
import { beadFor, startBead } from "./task-bead.ts";
import type { TaskEnd, TaskListener, TaskRequest } from "./task.ts";
import { work } from "./work.ts";
import { openWorktreePlace, type Workplace } from "./workplace.ts";

/** One agent at work on one bead: the bead, its worktree, a session, the agent, and what became of it. */
export async function runTask(request: TaskRequest, listener: TaskListener): Promise<TaskEnd> {
  const prepared = await prepareTask(request);
  const { paths } = prepared.project;
  for (const warning of [...prepared.project.warnings, ...prepared.repository.warnings]) listener.warn(warning);
  if (prepared.project.settings.sandbox.mode === "off") listener.warn("the sandbox is off: the agent runs with your rights");
  const store = openBeads(paths);
  const bead = await findBead(request, prepared, store);
  ignoredFolder(paths.root, paths.project.requests);
  const lock = await acquireLock(taskLockFile(paths, bead.id), `the bead ${bead.id}`, `wait until it ends, or stop it with \`cru familiars stop ${bead.id}\``);
  try {
    return await attempt(bead, { request, listener, prepared, store });
  } finally {
    lock.release();
  }
}

async function findBead(request: TaskRequest, { earlier }: Prepared, store: BeadStore): Promise<Bead> {
  const id = earlier?.metadata.task?.bead_id;
  if (id === undefined) return beadFor(request, store);
  const bead = await store.get(id);
  if (bead === undefined) throw beadNotFound(id, (await store.list()).items.map((one) => one.id));
  return bead;
}

async function attempt(bead: Bead, task: Task): Promise<TaskEnd> {
  const { request, listener, prepared, store } = task;
  const { paths, settings } = prepared.project;
  const before = (await sessionsOf(bead.id, paths)).filter((one) => one.id !== prepared.earlier?.id);
  if (prepared.earlier === undefined) withdrawQuestions(before, { paths, clock: systemClock });
  const needed = eventsToKeep(prepared.runner);
  const { session, events } = await openRecord(bead, task, needed);
  const notifier = openNotifier(settings.notify, { bell: listener.bell === undefined ? undefined : () => listener.bell?.(), env: request.env, cwd: paths.root, warn: listener.warn });
  const notices = watchForNotices(notifier, paths.root);
  const identity = identityOf(session, prepared, events);
  const emit = (event: NewEvent): void => {
    session.emit(event);
    if (needed(event)) events.push({ v: 1, ts: systemClock.now().toISOString(), seq: events.length, trace_id: session.traceId, ...event } as CruEvent);
    notices.event(event);
    listener.event(event);
  };
  const stopped = new AbortController();
  const stop = watchForStop(paths, bead.id, () => stopped.abort(new DOMException("stopped", "AbortError")));
  const signal = AbortSignal.any([request.signal, stopped.signal]);
  const started = systemClock.monotonicMs();
  const attempting: Attempt = { ...task, bead, session, events, emit, signal, identity, before };
  let place: Workplace | undefined;
  try {
    await startBead(bead, store);
    const asked = prepared.inPlace ? await confirmed(attempting) : undefined;
    place = asked === undefined ? await openPlace(attempting) : undefined;
    const outcome = asked ?? (await work(attempting, place as Workplace));
    const done = await place?.secure({ subject: bead.title, session: session.id });
    const end = await settle(attempting, { outcome, place, done, durationMs: Math.round(systemClock.monotonicMs() - started) });
    notices.ended({ sessionId: session.id, status: end.status, answer: end.summary, hint: end.hint, error: end.error, inboxId: end.inboxId, steps: "" }, 1);
    return end;
  } catch (error) {
    await abandon(attempting, place, error);
    throw error;
  } finally {
    stop.close();
    await notifier.settled();
  }
}

async function openRecord(bead: Bead, { request, listener, prepared }: Task, needed: (event: NewEvent) => boolean): Promise<{ session: SessionWriter; events: CruEvent[] }> {
  const deps = { paths: prepared.project.paths, env: request.env, clock: systemClock, warn: listener.warn };
  if (prepared.earlier !== undefined) {
    const { session, events } = await resumeSession(prepared.earlier.id, deps);
    return { session, events: events.filter(needed) };
  }
  const { agent, runner, inPlace } = prepared;
  const session = await openSession(
    { request: bead.title, agent: agent.name, version: agent.hash, model: agent.model, modelSource: agent.modelSource, runner, task: { bead_id: bead.id, in_place: inPlace } },
    deps,
  );
  return { session, events: [] };
}

function identityOf(session: SessionWriter, { agent }: Prepared, events: readonly CruEvent[]): AgentIdentity {
  // A question may have been asked before the agent was started.
  const before = events.find((e) => (e.type === "agent.started" && e.depth === 0) || e.type === "inbox.opened");
  const spanId = before !== undefined && "span_id" in before && before.span_id !== undefined ? before.span_id : newSpanId();
  return { name: agent.name, sessionId: session.id, traceId: session.traceId, spanId, parentSpanId: null, parentChain: ["user", agent.name], depth: 0 };
}

async function openPlace(at: Attempt): Promise<Workplace> {
  const { prepared, request, listener, session, bead } = at;
  const { paths, settings } = prepared.project;
  const place = prepared.inPlace
    ? await openOwnCheckout(prepared.repository, sessionStateFolder(paths, session.id))
    : await openWorktreePlace(bead, { repository: prepared.repository, settings, paths, env: request.env, warn: listener.warn, say: listener.say });
  listener.opened({
    beadId: bead.id, title: bead.title, sessionId: session.id, resumed: prepared.earlier !== undefined, runner: prepared.runner, model: prepared.agent.model, branch: place.branch, workspace: place.path,
  });
  return place;
}
