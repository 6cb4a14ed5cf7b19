import { openBudget, type Spent } from "../../agent/budget.ts";
import { detailedSteps } from "../../agent/report.ts";
import { durationMs } from "../../contract/duration.ts";
import type { CruEvent, Emit, NewEvent } from "../../contract/event.ts";
import type { ModelDelta } from "../../contract/model-call.ts";
import type { AgentIdentity } from "../../contract/runner.ts";
import type { SessionStatus } from "../../contract/session.ts";
import { systemClock } from "../../lib/clock.ts";
import { openQueue } from "../../lib/queue.ts";
import { createRedactor } from "../../lib/redact.ts";
import { newSpanId } from "../../lib/trace-id.ts";
import { createStreamModel } from "../../llm/stream-model.ts";
import { probeSandbox } from "../../sandbox/probe.ts";
import { endInterruptedAgents } from "../../session/end-interrupted-agents.ts";
import { openSession, resumeSession } from "../../session/open-session.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { agentsOf } from "./agents-of.ts";
import { type ChatInput, choosePrimary, openProject, type Primary, type Project } from "./open-chat.ts";
import type { AgentEnd } from "./run-agent.ts";
import { startTimeLimit } from "./time-limit.ts";

export type ChatRequest = ChatInput & {
  /** Undefined only with `resume`. */
  message: string | undefined;
  resume: string | undefined;
  /** Wait for answers instead of ending with the question in the inbox. */
  wait: boolean;
  verbose: boolean;
  signal: AbortSignal;
};

export type ChatListener = {
  opened(session: { id: string; folder: string; resumed: boolean }): void;
  event(event: NewEvent): void;
  delta(span: string, delta: ModelDelta): void;
  warn(message: string): void;
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

/** One request to a primary agent, or the rest of one that was cut short: opens the session, runs the loop, closes the session. */
export async function runChat(request: ChatRequest, listener: ChatListener): Promise<ChatEnd> {
  const project = await openProject(request);
  for (const warning of project.warnings) listener.warn(warning);
  const sessionDeps = { paths: project.paths, env: request.env, clock: systemClock, warn: listener.warn };
  const resumed = request.resume === undefined ? undefined : await resumeSession(request.resume, sessionDeps);
  try {
    const primary = await choosePrimary(withRecorded(request, resumed?.session), project);
    const session = resumed?.session ?? (await openSession(
      { request: request.message ?? "", agent: primary.name, version: primary.hash, model: primary.model, modelSource: primary.modelSource, runner: "model" },
      sessionDeps,
    ));
    listener.opened({ id: session.id, folder: session.folder, resumed: resumed !== undefined });
    return await converse(request, { project, primary, session, recorded: resumed?.events ?? [], resumed: resumed !== undefined }, listener);
  } catch (error) {
    // Settings or a provider are missing: the session stays as it was found.
    resumed?.session.finish("interrupted");
    throw error;
  }
}

type Opened = { project: Project; primary: Primary; session: SessionWriter; recorded: readonly CruEvent[]; resumed: boolean };

async function converse(request: ChatRequest, opened: Opened, listener: ChatListener): Promise<ChatEnd> {
  const { project, primary, session, recorded } = opened;
  const { settings } = project;
  const emit: Emit = (event) => {
    session.emit(event);
    listener.event(event);
  };
  const metadata = session.metadata();
  const limit = startTimeLimit(durationMs(settings.limits.time) ?? Number.POSITIVE_INFINITY, metadata.active_ms, systemClock.monotonicMs);
  const budget = openBudget({ usd: settings.limits.budget_usd, tokens: settings.limits.budget_tokens }, spentBefore(recorded), (share) =>
    emit({ type: "warning", message: `${Math.round(share * 100)} % of the budget is used` }),
  );
  const agents = agentsOf({
    project,
    primary,
    session,
    recorded,
    emit,
    budget,
    limit,
    wait: request.wait,
    env: request.env,
    signal: AbortSignal.any([request.signal, limit.signal]),
    onDelta: listener.delta,
    redactor: createRedactor(request.env),
    queue: openQueue({ maxConcurrent: settings.queue.max_concurrent, perGroup: settings.queue.providers }),
    stream: createStreamModel({ env: request.env }),
    sandbox: settings.sandbox.mode === "off" ? undefined : await probeSandbox({ path: request.env.PATH }),
  });
  const started = systemClock.monotonicMs();
  const identity = primaryIdentity(primary, session, recorded);
  const prompt = opened.resumed ? metadata.request : (request.message ?? metadata.request);
  try {
    const end = await agents.runPrimary(identity, prompt, opened.resumed ? request.message : undefined);
    return finish(end, { request, session, identity, started, timedOut: limit.signal.aborted, emit });
  } catch (error) {
    session.finish("failed");
    throw error;
  } finally {
    limit.stop();
  }
}

type Finishing = { request: ChatRequest; session: SessionWriter; identity: AgentIdentity; started: number; timedOut: boolean; emit: Emit };

function finish(end: AgentEnd, { request, session, identity, started, timedOut, emit }: Finishing): ChatEnd {
  const error = timedOut ? { type: "timeout", message: "the time limit of the session was reached (limits.time)" } : end.error;
  const status = timedOut ? "failed" : STATUS[end.status];
  const used = session.metadata().trace.find((t) => t.span_id === identity.spanId);
  if (end.inboxId === null) {
    endInterruptedAgents(session, { lastSeen: systemClock.now().toISOString() });
    emit({
      type: "agent.completed", session_id: session.id, span_id: identity.spanId, agent: identity.name, status, summary: end.text, error,
      duration_ms: Math.round(systemClock.monotonicMs() - started), tokens: used?.tokens ?? { input: 0, output: 0 }, cost_usd: used?.cost_usd ?? 0,
    });
  }
  const final = end.inboxId === null ? status : "waiting";
  session.finish(final);
  return {
    sessionId: session.id, status: final, answer: end.text, hint: end.hint, error, inboxId: end.inboxId,
    steps: request.verbose ? detailedSteps(end.memory) : "",
  };
}

const STATUS = { complete: "completed", failed: "failed", blocked: "blocked", cancelled: "interrupted" } as const;

/** Who takes a session up again goes on with its agent and model, unless the command line says otherwise. */
function withRecorded(request: ChatRequest, session: SessionWriter | undefined): ChatInput {
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

function spentBefore(events: readonly CruEvent[]): Spent {
  const spent: Spent = { usd: 0, tokens: 0, estimated: false };
  for (const event of events) {
    if (event.type !== "agent.usage") continue;
    spent.usd += event.cost_usd ?? 0;
    spent.tokens += event.tokens.input + event.tokens.output;
    spent.estimated ||= event.estimated;
  }
  return spent;
}
