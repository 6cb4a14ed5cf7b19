import type { Env } from "../../config/paths.ts";
import { durationMs } from "../../contract/duration.ts";
import { CruError } from "../../contract/error.ts";
import type { CruEvent, Emit } from "../../contract/event.ts";
import type { Question } from "../../contract/question.ts";
import type { AgentIdentity, DecisionHelp } from "../../contract/runner.ts";
import type { AnyTool, ToolResult } from "../../contract/tool.ts";
import { systemClock } from "../../lib/clock.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import type { McpTools } from "../../tools/mcp/connect-mcp-servers.ts";
import { agentsOf, type Chat } from "../chat/agents-of.ts";
import type { Primary, Project } from "../chat/open-chat.ts";
import { sessionParts } from "../chat/session-parts.ts";
import { startTimeLimit } from "../chat/time-limit.ts";
import { openMcp, openSandbox, type Sandbox } from "../chat/tool-set.ts";
import { callIds } from "./call-ids.ts";

export type DoorInput = {
  project: Project;
  env: Env;
  /** Real path of the folder that the agent and what it starts work in. */
  workspace: string;
  session: SessionWriter;
  /** Everything that is recorded of the session, growing as it is emitted. */
  recorded: readonly CruEvent[];
  emit: Emit;
  identity: AgentIdentity;
  /** Its rights and gates; what runs its loop is none of our business. */
  agent: Primary;
  /** What it is about, for the record of its children. */
  attempting(): string;
  /** Further MCP servers of the task, for its children. */
  task?: readonly string[];
  /** What commands of its children see beside the workspace. */
  worktree?: Chat["worktree"];
  /** False: a question ends the call, and stays for a next time. True: it is waited for, and withdrawn when nobody waits any more. */
  wait: boolean;
  /** Hears of the question that ended a call. */
  suspended?(inboxId: string): void;
  /** Hears of each question that is waited for. */
  asking?(question: Question, help: DecisionHelp): void;
  /** Ends everything. */
  signal: AbortSignal;
  warn(message: string): void;
};

export type DoorCall = {
  tool: string;
  input: unknown;
  /** Ends this call. */
  signal: AbortSignal;
  /** Hears of a question that a person has to answer before the call goes on. */
  asking?(question: Question): void;
};

/** Our tools for an agent whose loop runs elsewhere, one session for all its calls. */
export type ToolDoor = {
  tools(): Promise<readonly AnyTool[]>;
  /** Never throws for what the agent, a tool or a person does. */
  call(call: DoorCall): Promise<ToolResult>;
  /** Ends the calls that still run, and what they started. */
  close(): Promise<void>;
};

/** More are refused: an agent that sends thousands must not fill our memory. */
const MOST_AT_ONCE = 16;
const NO_SERVERS: McpTools = { tools: [], toolsFor: () => [], warnings: [], close: async () => {} };

export function openToolDoor(input: DoorInput): ToolDoor {
  const { project, env, workspace, agent } = input;
  const { settings } = project;
  const shared = sessionParts({ project, env, events: input.recorded, emit: input.emit });
  const ids = callIds(input.recorded, input.identity.spanId);
  const over = new AbortController();
  const running = new Set<Promise<unknown>>();
  const clock = workClock(durationMs(settings.limits.time) ?? Number.POSITIVE_INFINITY);
  let sandbox: Promise<Sandbox> | undefined;
  let servers: Promise<McpTools> | undefined;

  const agents = async (call: Pick<DoorCall, "signal" | "asking">, mcp: McpTools): Promise<ReturnType<typeof agentsOf>> =>
    agentsOf({
      project, primary: agent, session: input.session, workspace, recorded: input.recorded, emit: input.emit, env, ...shared,
      limit: clock.limit,
      ...(input.worktree === undefined ? {} : { worktree: input.worktree }),
      wait: input.wait,
      withdraws: input.wait,
      signal: AbortSignal.any([input.signal, over.signal, clock.limit.signal, call.signal]),
      onDelta: () => {},
      sandbox: await (sandbox ??= openSandbox(settings.sandbox.mode, env, input.warn)),
      mcp,
      takeGuidance: () => [],
      asking(question, help) {
        call.asking?.(question);
        input.asking?.(question, help);
      },
    });

  const perform = async (call: DoorCall): Promise<ToolResult> => {
    const starts = call.tool === "spawn_agent";
    const mcp = starts ? await (servers ??= openMcp(project, { workspace, permissions: agent.permissions, env, warn: input.warn, ...(input.task === undefined ? {} : { task: input.task }) })) : NO_SERVERS;
    const desk = (await agents(call, mcp)).desk(input.identity, input.attempting);
    const callId = ids.take(call.tool, call.input);
    const called = await desk.call({ callId, tool: call.tool, input: call.input });
    ids.release(callId, called.kind === "done");
    if (called.kind === "done") return { ok: called.observation.ok, output: called.observation.output };
    if (input.suspended !== undefined && !over.signal.aborted) {
      input.suspended(called.inboxId);
      // The agent is about to be stopped. It gets no answer that it could take for a result.
      await aborted(AbortSignal.any([over.signal, call.signal]));
    }
    return { ok: false, output: `a person is needed: \`cru inbox show ${called.inboxId}\`` };
  };

  return {
    tools: async () => (await agents({ signal: over.signal }, NO_SERVERS)).desk(input.identity, input.attempting).tools,
    async call(call) {
      if (clock.limit.signal.aborted) return { ok: false, output: "not run: the time of this session is over (limits.time)" };
      if (running.size >= MOST_AT_ONCE) return { ok: false, output: `not run: ${MOST_AT_ONCE} calls are running; wait for one of them` };
      const work = clock.during(() => perform(call)).catch((error: unknown) => fault(error, input.warn));
      running.add(work);
      return work.finally(() => running.delete(work));
    },
    async close() {
      over.abort(new DOMException("the agent is gone", "AbortError"));
      await Promise.all(running);
      await servers?.then((opened) => opened.close(), () => {});
      clock.limit.stop();
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function fault(error: unknown, warn: (message: string) => void): ToolResult {
  if (error instanceof CruError) return { ok: false, output: error.hint === undefined ? error.message : `${error.message} (${error.hint})` };
  warn(`a fault in Crucible: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  return { ok: false, output: `a fault in Crucible: ${error instanceof Error ? error.message : String(error)}` };
}

/** The session's time runs only while something is done: such an agent may stay for days and call us twice. */
function workClock(limitMs: number): { limit: ReturnType<typeof startTimeLimit>; during<T>(work: () => Promise<T>): Promise<T> } {
  const limit = startTimeLimit(limitMs, 0, systemClock.monotonicMs);
  let active = 0;
  let wake = (): void => {};
  const rest = (): void => void limit.waiting(() => new Promise<void>((resolve) => (wake = resolve)));
  rest();
  return {
    limit,
    async during(work) {
      if (active++ === 0) wake();
      try {
        return await work();
      } finally {
        if (--active === 0) rest();
      }
    },
  };
}
