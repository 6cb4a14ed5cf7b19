import { rmSync } from "node:fs";
import type { BeadStore } from "../../beads/bead-store.ts";
import { beadNotFound } from "../../beads/embedded-store.ts";
import type { Bead } from "../../contract/bead.ts";
import type { CruEvent, NewEvent } from "../../contract/event.ts";
import type { AgentIdentity, Ask, Outcome, Runner } from "../../contract/runner.ts";
import { answerQuestion } from "../../inbox/answer-question.ts";
import { systemClock } from "../../lib/clock.ts";
import { ignoredFolder } from "../../lib/ignored-folder.ts";
import { acquireLock } from "../../lib/lock.ts";
import { createRedactor } from "../../lib/redact.ts";
import { newSpanId } from "../../lib/trace-id.ts";
import { openNotifier } from "../../notify/open-notifier.ts";
import { openSession, resumeSession } from "../../session/open-session.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { openBeads } from "../beads.ts";
import { createAsk } from "../chat/ask.ts";
import { watchForNotices } from "../chat/notices.ts";
import { openExternalRunner, sessionStateFolder } from "../choose-runner.ts";
import { projectGuidance } from "../project-guidance.ts";
import { confirmInPlace, openOwnCheckout } from "./in-place.ts";
import { createModelRunner } from "./model-runner.ts";
import { type Prepared, prepareTask } from "./prepare-task.ts";
import { describeAttempts, sessionsOf } from "./prior-attempts.ts";
import { taskLockFile, watchForStop } from "./stop-requests.ts";
import { beadFor, blockBead, closeBead, startBead } from "./task-bead.ts";
import { judgeOutcome } from "./task-end.ts";
import type { TaskEnd, TaskListener, TaskRequest } from "./task.ts";
import { openWorktreePlace, type Work, type Workplace } from "./workplace.ts";

/** One agent at work on one bead: the bead, its worktree, a session, the agent, and what became of it. */
export async function runTask(request: TaskRequest, listener: TaskListener): Promise<TaskEnd> {
  const prepared = await prepareTask(request);
  const { paths } = prepared.project;
  for (const warning of [...prepared.project.warnings, ...prepared.repository.warnings]) listener.warn(warning);
  if (prepared.project.settings.sandbox.mode === "off") listener.warn("the sandbox is off: the agent runs with your rights");
  const store = openBeads(paths);
  const bead = await findBead(request, prepared, store);
  ignoredFolder(paths.root, paths.project.requests);
  const lock = await acquireLock(taskLockFile(paths, bead.id), `the bead ${bead.id}`);
  try {
    return await attempt(bead, { request, listener, prepared, store });
  } finally {
    lock.release();
  }
}

type Task = { request: TaskRequest; listener: TaskListener; prepared: Prepared; store: BeadStore };

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
  const { session, events } = await openRecord(bead, task);
  const notifier = openNotifier(settings.notify, { bell: listener.bell === undefined ? undefined : () => listener.bell?.(), env: request.env, cwd: paths.root, warn: listener.warn });
  const notices = watchForNotices(notifier, paths.root);
  const emit = (event: NewEvent): void => {
    session.emit(event);
    // The loop remembers from the record; a program outside keeps its own memory, and its stream may be long.
    if (prepared.runner === "model" || event.type.startsWith("inbox.")) events.push({ v: 1, ts: systemClock.now().toISOString(), seq: events.length, trace_id: session.traceId, ...event } as CruEvent);
    notices.event(event);
    listener.event(event);
  };
  const stopped = new AbortController();
  const stop = watchForStop(paths, bead.id, () => stopped.abort(new DOMException("stopped", "AbortError")));
  const signal = AbortSignal.any([request.signal, stopped.signal]);
  const identity = identityOf(session, prepared, events);
  const started = systemClock.monotonicMs();
  const attempting: Attempt = { ...task, bead, session, events, emit, signal, identity, priorAttempts: describeAttempts(before) };
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
    // Ours, not the agent's: whatever it did stays, and the bead says what happened.
    await place?.secure({ subject: bead.title, session: session.id }).catch(() => undefined);
    await blockBead(bead, { reason: (error as Error).message, sessionId: session.id, needsHuman: true }, { store, clock: systemClock }).catch(() => undefined);
    session.finish("failed");
    throw error;
  } finally {
    stop.close();
    await notifier.settled();
  }
}

type Attempt = Task & {
  bead: Bead;
  session: SessionWriter;
  events: CruEvent[];
  emit(event: NewEvent): void;
  signal: AbortSignal;
  identity: AgentIdentity;
  priorAttempts: string;
};

async function openRecord(bead: Bead, { request, listener, prepared }: Task): Promise<{ session: SessionWriter; events: CruEvent[] }> {
  const deps = { paths: prepared.project.paths, env: request.env, clock: systemClock, warn: listener.warn };
  if (prepared.earlier !== undefined) return resumeSession(prepared.earlier.id, deps);
  const { agent, runner, inPlace } = prepared;
  const session = await openSession(
    { request: bead.title, agent: agent.name, version: agent.hash, model: agent.model, modelSource: agent.modelSource, runner, task: { bead_id: bead.id, in_place: inPlace } },
    deps,
  );
  return { session, events: [] };
}

function identityOf(session: SessionWriter, { agent }: Prepared, events: readonly CruEvent[]): AgentIdentity {
  const before = events.find((e) => e.type === "agent.started" && e.depth === 0);
  const spanId = before?.type === "agent.started" && before.span_id !== undefined ? before.span_id : newSpanId();
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

/** Undefined: go on. */
async function confirmed(at: Attempt): Promise<Outcome | undefined> {
  const asked = await confirmInPlace(askOf(at), at.prepared.repository);
  if (asked.kind === "answered" && asked.answer.decision === "approve") return undefined;
  const nothing = { text: "", output: null, tokens: { input: 0, output: 0 }, costUsd: 0, costEstimated: false, denials: [] };
  if (at.signal.aborted) return { ...nothing, status: "cancelled", reason: "cancelled", error: null };
  if (asked.kind === "suspended") return { ...nothing, status: "blocked", reason: "suspended", inboxId: asked.inboxId, error: null };
  return { ...nothing, status: "denied", reason: "denied", error: { type: "denied", message: "working in your own checkout was refused" } };
}

async function work(at: Attempt, place: Workplace): Promise<Outcome> {
  const { prepared, bead, session, identity, emit, signal } = at;
  const { agent, limits } = prepared;
  const prompt = prepared.prompt.render(bead, at.priorAttempts);
  const guidance = projectGuidance(place.path);
  const system = guidance === "" ? agent.prompt : `${agent.prompt}\n\n# About this project\n\n${guidance}`;
  const resume = prepared.earlier !== undefined;
  if (prepared.runner !== "model" || !at.events.some((e) => e.type === "agent.started")) {
    emit({
      type: "agent.started", session_id: session.id, span_id: identity.spanId, agent: agent.name, task: prompt, model: agent.model, model_source: agent.modelSource, runner: prepared.runner,
      depth: 0, permissions: [...agent.permissions], parent_span_id: null, parent_chain: [...identity.parentChain], definition_hash: agent.hash,
    });
  }
  const spent = session.metadata().cost_usd ?? 0;
  if (limits.budgetUsd !== null && spent >= limits.budgetUsd) return overBudget(session);
  return runnerOf(at, place).run(
    {
      agent: identity, system, prompt, workspace: place.path, model: agent.model, permissions: agent.permissions, requiresApproval: agent.requiresApproval, limits, resume, expectsOutput: true,
      mcpServers: prepared.project.settings.mcp.servers, binds: place.binds,
    },
    { emit, ask: askOf(at), signal },
  );
}

function runnerOf(at: Attempt, place: Workplace): Runner {
  const { prepared, request, listener, session, events } = at;
  const { project, runner } = prepared;
  if (runner !== "model") return openExternalRunner({ name: runner, settings: project.settings, env: request.env, paths: project.paths });
  return createModelRunner({
    project, primary: prepared.agent, session, recorded: events, env: request.env, wait: request.wait, ownGit: place.ownGit, warn: listener.warn, onDelta: listener.delta,
    asking: (question, help) => listener.asking?.(question, help, (answer) => void answerQuestion(answer, { paths: project.paths, clock: systemClock })),
  });
}

function askOf(at: Attempt): Ask {
  const { prepared, request, listener, events, emit, signal, identity } = at;
  const { paths, settings } = prepared.project;
  return createAsk(identity, prepared.agent.approvalTimeoutS, {
    paths, clock: systemClock, redactor: createRedactor(request.env), emit, approvals: settings.approvals, canWait: request.wait, signal, recorded: events,
    // The runner stops its own clocks.
    waiting: (wait) => wait(),
    asking: (question, help) => listener.asking?.(question, help, (answer) => void answerQuestion(answer, { paths, clock: systemClock })),
  });
}

function overBudget(session: SessionWriter): Outcome {
  const { tokens, cost_usd, cost_estimated } = session.metadata();
  return {
    status: "blocked", reason: "budget", text: "", output: null, tokens, costUsd: cost_usd, costEstimated: cost_estimated, denials: [],
    error: { type: "budget", message: "the budget for this task is used up" },
  };
}

type Ended = { outcome: Outcome; place: Workplace | undefined; done: Work | undefined; durationMs: number };

/** Writes down how it ended: in the session, in the bead, and in what the caller is told. */
async function settle(at: Attempt, { outcome, place, done, durationMs }: Ended): Promise<TaskEnd> {
  const { bead, session, identity, emit, store, prepared } = at;
  const verdict = judgeOutcome(outcome, `cru task --resume ${session.id}`);
  for (const warning of done?.warnings ?? []) emit({ type: "warning", span_id: identity.spanId, message: warning });
  const used = session.metadata();
  const branch = place?.branch ?? null;
  if (verdict.status !== "waiting") {
    emit({
      type: "agent.completed", session_id: session.id, span_id: identity.spanId, agent: identity.name, status: outcome.status, summary: verdict.summary, duration_ms: durationMs,
      tokens: used.tokens, cost_usd: used.cost_usd, error: outcome.error,
    });
    emit({
      type: "task.completed", session_id: session.id, bead_id: bead.id, status: verdict.status, reason: verdict.why === "" ? null : verdict.why, summary: verdict.summary, branch,
      base: place?.base ?? "", commit: done?.commit ?? null, changed_files: (done?.files ?? []).map((file) => file.path),
    });
  }
  if (verdict.status === "completed") await closeBead(bead, branch, store);
  else await blockBead(bead, { reason: verdict.why, sessionId: session.id, needsHuman: verdict.needsHuman }, { store, clock: systemClock });
  const saved = session.finish(verdict.status);
  if (verdict.status === "completed") forgetState(at);
  return {
    beadId: bead.id, title: bead.title, sessionId: session.id, status: verdict.status, reason: outcome.reason, summary: verdict.summary, output: outcome.output,
    error: verdict.status === "waiting" || verdict.status === "completed" ? null : (outcome.error ?? { type: outcome.reason ?? outcome.status, message: verdict.why }),
    hint: verdict.hint, inboxId: outcome.inboxId ?? null, resetAt: outcome.resetAt ?? null, branch, base: place?.base ?? "", commit: done?.commit ?? null, files: done?.files ?? [], diff: done?.diff ?? "",
    diffTruncated: done?.truncated ?? false, runner: prepared.runner, version: saved.process?.version ?? null, externalSession: saved.process?.external_session ?? null, tokens: saved.tokens,
    costUsd: saved.cost_usd, costEstimated: saved.cost_estimated, durationMs: saved.active_ms,
  };
}

/** What the agent program kept for a next time; there is none. */
function forgetState({ prepared, session }: Attempt): void {
  rmSync(sessionStateFolder(prepared.project.paths, session.id), { recursive: true, force: true });
}
