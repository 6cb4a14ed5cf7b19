import { detailedSteps } from "../../agent/report.ts";
import type { Paths } from "../../config/paths.ts";
import { durationMs } from "../../contract/duration.ts";
import type { CruEvent, Emit, NewEvent } from "../../contract/event.ts";
import type { ModelDelta } from "../../contract/model-call.ts";
import type { Question } from "../../contract/question.ts";
import { type AgentIdentity, type DecisionHelp, RUNNERS, type RunnerName } from "../../contract/runner.ts";
import type { SessionMetadata, SessionStatus } from "../../contract/session.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { type AnswerInput, withdrawQuestion } from "../../inbox/answer-question.ts";
import { findQuestion, type InboxItem, listInbox } from "../../inbox/list-inbox.ts";
import { revokeGrant } from "../../inbox/revoke.ts";
import { systemClock } from "../../lib/clock.ts";
import { newSpanId } from "../../lib/trace-id.ts";
import { openNotifier } from "../../notify/open-notifier.ts";
import { endInterruptedAgents } from "../../session/end-interrupted-agents.ts";
import { listSessions } from "../../session/list-sessions.ts";
import { openSession, resumeSession } from "../../session/open-session.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import type { McpTools } from "../../tools/mcp/connect-mcp-servers.ts";
import { chooseRunner, requireExternalRunner } from "../choose-runner.ts";
import { answerItem } from "../answer-item.ts";
import { agentsOf } from "./agents-of.ts";
import type { AskDeps } from "./ask.ts";
import { conditionsOf, withRecordedFlags } from "./conditions.ts";
import { watchForNotices } from "./notices.ts";
import { type ChatInput, choosePrimary, openProject, type Primary, type Project } from "./open-chat.ts";
import { recordInterrupted } from "./record-interrupted.ts";
import { refuseForeignSession } from "./refuse-foreign-session.ts";
import type { AgentEnd } from "./run-agent.ts";
import { runOutside } from "./run-outside.ts";
import { sessionParts } from "./session-parts.ts";
import { startTimeLimit } from "./time-limit.ts";
import { openMcp, openSandbox, type Sandbox } from "./tool-set.ts";

export type OpenRequest = ChatInput & {
  /** How the primary runs; left out, the settings say. */
  runner?: Settings["runner"] | undefined;
  resume: string | undefined;
  /** Wait for answers instead of ending with the question in the inbox. */
  wait: boolean;
  verbose: boolean;
};

export type ChatListener = {
  opened(session: { id: string; folder: string; resumed: boolean }): void;
  event(event: NewEvent): void;
  delta(span: string, delta: ModelDelta): void;
  warn(message: string): void;
  /** A person is waited for in this process. What `help` lacks cannot be done: change parameters, ask back. */
  asking?(question: Question, help: DecisionHelp): void;
  /** Rings the terminal, where there is one. */
  bell?(): void;
};

export type ChatEnd = {
  sessionId: string;
  status: Exclude<SessionStatus, "running">;
  answer: string;
  /** What to do about an end that is not an answer. */
  hint: string;
  error: { type: string; message: string } | null;
  inboxId: string | null;
  /** The steps one by one, when they were asked for. */
  steps: string;
};

export type Turn = {
  /** Undefined: go on with what an earlier process left. */
  message: string | undefined;
  signal: AbortSignal;
  /** What the user said since the last call, for the next plan. */
  takeGuidance(): string[];
};

/** A conversation that may have many turns, in one session folder. */
export type ChatSession = {
  project: Project;
  primary(): Primary;
  /** From the next turn on. A model that is not there is the user's mistake, a `CruError`. */
  useModel(model: string): void;
  /** Everything that was recorded, also by earlier processes. */
  events: readonly CruEvent[];
  /** An earlier process was cut off or waits for an answer: a turn without a message goes on there. */
  unfinished: boolean;
  /** Undefined before the first turn: the folder is named after the first message. */
  metadata(): SessionMetadata | undefined;
  turn(turn: Turn): Promise<ChatEnd>;
  /** A person's answer out of this process. The first one wins; who comes after it gets a `CruError`. */
  answer(answer: AnswerInput): void;
  /** Nobody needs this answer any more. */
  withdraw(question: Question, reason: string): void;
  inbox(): Promise<InboxItem[]>;
  /** Takes back what was allowed for the session; false when that was done before. */
  revoke(id: string): boolean;
  /** What the user said in this conversation and as the first words of earlier ones, the oldest first. */
  said(): Promise<string[]>;
  close(status: Exclude<SessionStatus, "running">): Promise<void>;
};

export async function openChatSession(request: OpenRequest, listener: ChatListener): Promise<ChatSession> {
  let project = await openProject(request);
  for (const warning of project.warnings) listener.warn(warning);
  const sessionDeps = { paths: project.paths, env: request.env, clock: systemClock, warn: listener.warn };
  await recordInterrupted(sessionDeps);
  if (request.resume !== undefined) await refuseForeignSession(request.resume, project.paths);
  const resumed = request.resume === undefined ? undefined : await resumeSession(request.resume, sessionDeps);
  const input = withRecordedFlags(withRecorded(request, resumed?.session), resumed?.events ?? []);
  let session = resumed?.session;
  const runner = runnerFor(request, project, resumed?.session);
  const needs = { provider: runner === "model" };
  let primary: Primary;
  try {
    // The settings depend on the flags, and those of then are only known now.
    if (resumed !== undefined) project = await openProject(input);
    primary = choosePrimary(input, project, needs);
    if (runner !== "model") requireExternalRunner({ name: runner, settings: project.settings, env: request.env, paths: project.paths });
  } catch (error) {
    // Settings or a provider are missing: the session stays as it was found.
    session?.finish("interrupted");
    throw error;
  }
  const { settings } = project;
  const events: CruEvent[] = [...(resumed?.events ?? [])];
  const unfinished = resumed !== undefined && isUnfinished(events);
  if (session !== undefined) listener.opened({ id: session.id, folder: session.folder, resumed: true });
  const shared = sessionParts({ project, env: request.env, events, emit });
  const notifier = openNotifier(settings.notify, {
    bell: listener.bell === undefined ? undefined : () => listener.bell?.(), env: request.env, cwd: project.paths.root, warn: listener.warn,
  });
  const notices = watchForNotices(notifier, project.paths.root);
  const inboxDeps = { paths: project.paths, clock: systemClock };
  let turns = 0;
  let workedMs = session?.metadata().active_ms ?? 0;
  let sandbox: Promise<Sandbox> | undefined;
  let mcp: Promise<McpTools> | undefined;

  return {
    project,
    primary: () => primary,
    useModel(model) {
      primary = choosePrimary({ ...input, model }, project, needs);
    },
    events,
    unfinished,
    metadata: () => session?.metadata(),
    async turn({ message, signal, takeGuidance }) {
      const first = session === undefined;
      const owned = (session ??= await begin(message ?? ""));
      const held = await (sandbox ??= openSandbox(settings.sandbox.mode, request.env, listener.warn));
      const servers = runner !== "model" ? NO_SERVERS : await (mcp ??= openMcp(project, { workspace: project.paths.root, permissions: primary.permissions, env: request.env, warn: listener.warn }));
      emit({ type: "session.turn", session_id: owned.id, message: message ?? null, conditions: conditionsOf(project, primary, { sandbox: held, mcp: servers.tools, flags: input }) });
      const limit = startTimeLimit(durationMs(settings.limits.time) ?? Number.POSITIVE_INFINITY, workedMs, systemClock.monotonicMs);
      const stop = AbortSignal.any([signal, limit.signal]);
      const onStop = (): void => emit({ type: "session.stopped", session_id: owned.id, reason: signal.aborted ? "user" : "time" });
      stop.addEventListener("abort", onStop, { once: true });
      const agents = agentsOf({
        project, primary, session: owned, workspace: project.paths.root, recorded: events, emit, limit, wait: request.wait, env: request.env, onDelta: listener.delta, ...shared,
        signal: stop,
        sandbox: held,
        mcp: servers,
        takeGuidance,
        asking: (question, help) => listener.asking?.(question, help),
      });
      const started = systemClock.monotonicMs();
      const identity = primaryIdentity(primary, owned, events);
      const prompt = first && message !== undefined ? message : owned.metadata().request;
      try {
        const asking: AskDeps["asking"] = (question, help) => listener.asking?.(question, help);
        const outside = { project, primary, session: owned, recorded: events, emit, env: request.env, wait: request.wait, signal: stop, asking, warn: listener.warn };
        const followUp = first ? undefined : message;
        const end = await (runner === "model" ? agents.runPrimary(identity, prompt, followUp) : runOutside(identity, prompt, followUp, { ...outside, runner }));
        const ended = endOf(end, { request, session: owned, timedOut: limit.signal.aborted });
        if (end.inboxId === null) recordEnd(ended, { session: owned, identity, durationMs: Math.round(systemClock.monotonicMs() - started), emit });
        notices.ended(ended, ++turns);
        return ended;
      } catch (error) {
        owned.finish("interrupted");
        throw error;
      } finally {
        stop.removeEventListener("abort", onStop);
        workedMs = limit.stop();
      }
    },
    answer: (answer) => answerItem(answer, inboxDeps),
    withdraw: (question, reason) => void withdrawQuestion(question, reason, inboxDeps),
    inbox: async () => (await listInbox(project.paths, { closed: 0 })).items,
    revoke: (id) => revokeGrant(findQuestion(project.paths, id), inboxDeps),
    said: () => saidBefore(project.paths, resumed?.session.id, resumed?.events ?? []),
    async close(status) {
      session?.finish(status);
      await (await mcp)?.close();
      await notifier.settled();
    },
  };

  function emit(event: NewEvent): void {
    if (session === undefined) return;
    session.emit(event);
    events.push({ v: 1, ts: systemClock.now().toISOString(), seq: events.length, trace_id: session.traceId, ...event } as CruEvent);
    notices.event(event);
    listener.event(event);
  }

  async function begin(message: string): Promise<SessionWriter> {
    const opened = await openSession(
      { request: message, agent: primary.name, version: primary.hash, model: primary.model, modelSource: primary.modelSource, runner },
      sessionDeps,
    );
    listener.opened({ id: opened.id, folder: opened.folder, resumed: false });
    return opened;
  }
}

const NO_SERVERS: Pick<McpTools, "tools" | "toolsFor" | "warnings" | "close"> = { tools: [], toolsFor: () => [], warnings: [], close: async () => {} };

/** Flag, then what the session began with, then the settings. */
function runnerFor(request: OpenRequest, { settings, paths }: Project, session: SessionWriter | undefined): RunnerName {
  const recorded = session === undefined ? undefined : RUNNERS.find((name) => name === session.metadata().runner);
  return chooseRunner({ wanted: request.runner ?? recorded ?? settings.runner, purpose: "chat", settings, env: request.env, root: paths.root });
}

function endOf(end: AgentEnd, { request, session, timedOut }: { request: OpenRequest; session: SessionWriter; timedOut: boolean }): ChatEnd {
  const error = timedOut ? { type: "timeout", message: "the time limit of the session was reached (limits.time)" } : end.error;
  const status = end.inboxId !== null ? "waiting" : timedOut ? "failed" : STATUS[end.status];
  return { sessionId: session.id, status, answer: end.text, hint: end.hint, error, inboxId: end.inboxId, steps: request.verbose ? detailedSteps(end.memory) : "" };
}

type Ending = { session: SessionWriter; identity: AgentIdentity; durationMs: number; emit: Emit };

function recordEnd(end: ChatEnd, { session, identity, durationMs, emit }: Ending): void {
  const used = session.metadata().trace.find((t) => t.span_id === identity.spanId);
  endInterruptedAgents({ ...session, emit }, { lastSeen: systemClock.now().toISOString() });
  emit({
    type: "agent.completed", session_id: session.id, span_id: identity.spanId, agent: identity.name, status: end.status, summary: end.answer, error: end.error,
    duration_ms: durationMs, tokens: used?.tokens ?? { input: 0, output: 0 }, cost_usd: used?.cost_usd ?? 0,
  });
}

const STATUS = { complete: "completed", failed: "failed", blocked: "blocked", cancelled: "interrupted" } as const;

/** Who takes a session up again goes on with its agent and model, unless the command line says otherwise. */
function withRecorded(request: OpenRequest, session: SessionWriter | undefined): ChatInput {
  if (session === undefined) return request;
  const { primary } = session.metadata();
  const model = request.model ?? (primary.model_source === "override" ? primary.model : undefined);
  return { ...request, agent: request.agent ?? primary.agent, model };
}

function primaryIdentity(primary: Primary, session: SessionWriter, recorded: readonly CruEvent[]): AgentIdentity {
  const before = recorded.find((e) => e.type === "agent.started" && e.depth === 0);
  const spanId = before?.type === "agent.started" && before.span_id !== undefined ? before.span_id : newSpanId();
  return { name: primary.name, sessionId: session.id, traceId: session.traceId, spanId, parentSpanId: null, parentChain: ["user", primary.name], depth: 0 };
}

/** The primary did something, or was about to, after the last end of a turn. */
function isUnfinished(events: readonly CruEvent[]): boolean {
  const span = events.find((e) => e.type === "agent.started" && e.depth === 0);
  if (span?.type !== "agent.started") return true;
  const ended = events.findLastIndex((e) => e.type === "agent.completed" && e.span_id === span.span_id);
  return events.slice(ended + 1).some((e) => e.type === "session.guidance" || ("span_id" in e && e.span_id === span.span_id));
}

const REMEMBERED = 30;

async function saidBefore(paths: Paths, current: string | undefined, events: readonly CruEvent[]): Promise<string[]> {
  const { sessions } = await listSessions(paths, { limit: REMEMBERED });
  const earlier = sessions.filter((s) => s.id !== current && s.metadata.task === undefined).map((s) => s.metadata.request).toReversed();
  const here = events.flatMap((e) => (e.type === "session.started" ? [e.request] : e.type === "session.guidance" && e.from !== "answer" ? [e.text] : []));
  return [...earlier, ...here].filter((text) => text !== "");
}
