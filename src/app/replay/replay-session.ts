import { join } from "node:path";
import { openBudget } from "../../agent/budget.ts";
import { type Env, findPaths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import type { CruEvent, NewEvent } from "../../contract/event.ts";
import type { AgentIdentity } from "../../contract/runner.ts";
import { openQueue } from "../../lib/queue.ts";
import { createRedactor } from "../../lib/redact.ts";
import { findSession } from "../../session/list-sessions.ts";
import { readRecording } from "../../session/read-session.ts";
import { agentsOf } from "../chat/agents-of.ts";
import { startedChildren } from "../chat/children.ts";
import { spentBefore } from "../chat/spent-before.ts";
import { noteTools } from "../notes.ts";
import { memorySession } from "./memory-session.ts";
import { openReplay } from "./open-replay.ts";
import { type Divergence, playTurn } from "./play-turn.ts";
import { playedRequests } from "./played-requests.ts";
import { recordedMcp } from "./recorded-mcp.ts";
import { type RecordedTurn, turnsOf } from "./turns.ts";

export type ReplayReport = {
  sessionId: string;
  turns: number;
  /** Model calls whose request was the same, of those that are recorded. */
  calls: number;
  recordedCalls: number;
  agents: number;
  results: number;
  questions: number;
  divergence: (Divergence & { turn: number }) | undefined;
};

/** Runs a session's real loop again, offline: models, tools and people answer from its recording, and every request is compared. Writes nothing. */
export async function replaySession(input: { id: string; cwd: string; env: Env }): Promise<ReplayReport> {
  const paths = findPaths(input.cwd, input.env);
  const id = findSession(paths, input.id);
  const { events, problems } = readRecording(join(paths.project.sessions, id));
  const [problem] = problems;
  if (problem !== undefined) throw new CruError("failed", `the recording of ${id} is not whole: ${problem.message}`, { hint: "only a whole recording can be replayed" });
  const outside = events.find((e) => e.type === "agent.started" && e.depth === 0 && e.runner !== "model");
  if (outside?.type === "agent.started") throw new CruError("unsupported", `${id} was run by ${outside.runner}, which keeps its own conversation`, { hint: "only sessions of the runner model can be replayed" });
  const turns = turnsOf(id, events);
  const calls = turns.reduce((sum, turn) => sum + playedRequests(turn.events).length, 0);
  const agents = new Set(events.flatMap((e) => (e.type === "agent.started" ? [e.span_id] : []))).size;
  const report: ReplayReport = { sessionId: id, turns: turns.length, calls: 0, recordedCalls: calls, agents, results: 0, questions: 0, divergence: undefined };
  let nextCall = 1;
  for (const [n, turn] of turns.entries()) {
    const played = await replayTurn(turn, nextCall, input);
    nextCall += playedRequests(turn.events).length;
    report.calls += played.calls;
    report.results += played.results;
    report.questions += played.questions;
    if (played.divergence !== undefined) return { ...report, divergence: { ...played.divergence, turn: n + 1 } };
  }
  return report;
}

async function replayTurn(turn: RecordedTurn, firstCall: number, { cwd, env }: { cwd: string; env: Env }): Promise<ReturnType<ReturnType<typeof playTurn>["finish"]>> {
  const { conditions, before } = turn;
  const { settings } = conditions;
  const { project, primary } = await openReplay(conditions, findPaths(cwd, env), env);
  const started = [...before, ...turn.events].find((e) => e.type === "agent.started" && e.depth === 0);
  const spanId = started?.type === "agent.started" ? (started.span_id ?? "") : "";
  const opened = before.find((e) => e.type === "session.started");
  const { session_id: id, request: prompt } = opened?.type === "session.started" ? opened : { session_id: "", request: "" };
  const session = memorySession({ session_id: id, trace_id: before[0]?.trace_id ?? "" }, before);
  const redactor = createRedactor(env);
  const player = playTurn(turn, firstCall, spanId, { redactor });
  const live: CruEvent[] = [...before];
  const emit = (event: NewEvent): void => {
    session.emit(event);
    live.push({ v: 1, ts: "", seq: live.length, trace_id: session.traceId, ...event } as CruEvent);
    player.hear(event);
  };
  const agents = agentsOf({
    project, primary, session, workspace: project.paths.root, recorded: live, children: startedChildren(live), emit, env, redactor, wait: true, sandbox: conditions.sandbox,
    budget: openBudget({ usd: settings.limits.budget_usd, tokens: settings.limits.budget_tokens }, spentBefore(before), () => {}),
    limit: { signal: player.signal, waiting: (wait) => wait(), stop: () => 0 },
    signal: player.signal,
    onDelta: () => {},
    queue: openQueue({ maxConcurrent: settings.queue.max_concurrent, perGroup: settings.queue.providers }),
    stream: player.stream,
    mcp: recordedMcp(turn),
    notes: noteTools({ paths: project.paths, settings: project.settings, env }),
    takeGuidance: player.takeGuidance,
    asking: () => {},
    instead: { ask: (identity, explain) => withEvents(player.ask(identity, explain), turn, live), tools: player.tools, isRevoked: player.isRevoked },
  });
  const identity: AgentIdentity = { name: primary.name, sessionId: id, traceId: session.traceId, spanId, parentSpanId: null, parentChain: ["user", primary.name], depth: 0 };
  await agents.runPrimary(identity, prompt, turn.first || turn.message === null ? undefined : turn.message);
  return player.finish();
}

type PlayedAsk = ReturnType<ReturnType<typeof playTurn>["ask"]>;

/** What was recorded about a question is what later calls of the session look at. */
function withEvents(ask: PlayedAsk, turn: RecordedTurn, live: CruEvent[]): PlayedAsk {
  return async (input) => {
    const asked = await ask(input);
    const id = asked.kind === "answered" ? asked.answer.id : asked.inboxId;
    live.push(...turn.events.filter((e) => (e.type === "inbox.opened" || e.type === "inbox.closed") && e.id === id));
    return asked;
  };
}
