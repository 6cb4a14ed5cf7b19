import { CruError } from "../../contract/error.ts";
import type { CruEvent, NewEvent } from "../../contract/event.ts";
import { resolveModel } from "../../contract/model.ts";
import type { AgentIdentity } from "../../contract/runner.ts";
import type { AnyTool } from "../../contract/tool.ts";
import { systemClock } from "../../lib/clock.ts";
import { newSpanId } from "../../lib/trace-id.ts";
import { openNotifier } from "../../notify/open-notifier.ts";
import { effectiveRights, PRIMARY_RIGHTS } from "../../permission/effective.ts";
import { endInterruptedAgents } from "../../session/end-interrupted-agents.ts";
import { openSession } from "../../session/open-session.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { requireTrusted } from "../../trust/open-trust.ts";
import { watchForNotices } from "../chat/notices.ts";
import { type ChatInput, findNamed, openProject, type Primary, PRIMARY_NAME, type Project } from "../chat/open-chat.ts";
import { recordInterrupted } from "../chat/record-interrupted.ts";
import { memorySession } from "../replay/memory-session.ts";
import { openToolDoor, type ToolDoor } from "./tool-door.ts";
import type { ToolSource } from "./tool-server.ts";

export type OpenTools = ToolSource & {
  /** The client is gone: ends what still runs and closes the session, when one was opened. */
  close(): Promise<void>;
};

export type ToolsListener = { warn(message: string): void; opened(session: { id: string; folder: string }): void };

type Opened = { door: ToolDoor; session: SessionWriter; finish(): Promise<void> };

/**
 * This project's tools for a primary agent that runs in another program, under the same ceiling, gates and depth as a chat. The session is opened by
 * the first call.
 */
export async function openTools(request: ChatInput, listener: ToolsListener): Promise<OpenTools> {
  const project = await openProject(request);
  for (const warning of project.warnings) listener.warn(warning);
  const primary = outsidePrimary(request, project);
  const over = new AbortController();
  let opened: Promise<Opened> | undefined;
  let listed: Promise<readonly AnyTool[]> | undefined;
  let interrupted = false;
  let calls = 0;
  let open = 0;

  return {
    tools: () => (listed ??= listTools()),
    async call(client, call) {
      const { door } = await (opened ??= begin(client));
      calls++;
      open++;
      return door.call(call).finally(() => open--);
    },
    async close() {
      interrupted = open > 0;
      over.abort(new DOMException("the client is gone", "AbortError"));
      await (await opened)?.finish();
    },
  };

  /** What could be called; nothing is opened for it. */
  async function listTools(): Promise<readonly AnyTool[]> {
    const session = memorySession({ session_id: "", trace_id: "" }, []);
    const door = openToolDoor({ ...doorInput(session, [], () => {}), identity: identityOf(PRIMARY_NAME, session), agent: primary });
    const tools = await door.tools();
    await door.close();
    return tools;
  }

  async function begin(client: string): Promise<Opened> {
    const name = request.agent ?? clientName(client);
    const deps = { paths: project.paths, env: request.env, clock: systemClock, warn: listener.warn };
    await recordInterrupted(deps);
    const session = await openSession(
      { request: `${name} with the tools of cru mcp`, agent: name, version: primary.hash, model: EXTERNAL_MODEL, modelSource: "default", runner: RUNNER }, deps,
    );
    listener.opened({ id: session.id, folder: session.folder });
    const identity = identityOf(name, session);
    const events: CruEvent[] = [];
    const notifier = openNotifier(project.settings.notify, { bell: undefined, env: request.env, cwd: project.paths.root, warn: listener.warn });
    const notices = watchForNotices(notifier, project.paths.root);
    const emit = (event: NewEvent): void => {
      session.emit(event);
      // Results of the client's own calls are long and nobody looks at them again; it may stay for days.
      const isOwnCall = (event.type === "agent.tool_call" || event.type === "agent.tool_result") && event.span_id === identity.spanId;
      if (!isOwnCall) events.push({ v: 1, ts: systemClock.now().toISOString(), seq: events.length, trace_id: session.traceId, ...event } as CruEvent);
      notices.event(event);
    };
    const began = systemClock.monotonicMs();
    emit({
      type: "agent.started", session_id: session.id, span_id: identity.spanId, agent: name, task: session.metadata().request, model: EXTERNAL_MODEL, model_source: "default", runner: RUNNER,
      depth: 0, permissions: [...primary.permissions], parent_span_id: null, parent_chain: [...identity.parentChain], definition_hash: primary.hash,
    });
    const door = openToolDoor({ ...doorInput(session, events, emit), identity, agent: { ...primary, name } });
    return {
      door,
      session,
      async finish() {
        await door.close();
        endInterruptedAgents({ ...session, emit }, { lastSeen: systemClock.now().toISOString() });
        const status = interrupted ? "interrupted" : "completed";
        emit({
          type: "agent.completed", session_id: session.id, span_id: identity.spanId, agent: name, status, summary: `${calls} tool calls`, error: null,
          duration_ms: Math.round(systemClock.monotonicMs() - began),
          // What the other program used, only it knows.
          tokens: { input: 0, output: 0 }, cost_usd: null,
        });
        session.finish(status);
        await notifier.settled();
      },
    };
  }

  function doorInput(session: SessionWriter, recorded: readonly CruEvent[], emit: (event: NewEvent) => void) {
    return {
      project, env: request.env, workspace: project.paths.root, session, recorded, emit, attempting: () => session.metadata().request, signal: over.signal, warn: listener.warn, wait: true,
    };
  }
}

const RUNNER = "mcp";
const EXTERNAL_MODEL = "external";

/** Rights and gates as in a chat. A model is only needed by what it starts, and looked for then. */
function outsidePrimary(request: ChatInput, project: Project): Primary {
  const named = request.agent === undefined ? undefined : findNamed(request.agent, project);
  if (named !== undefined) {
    const usable = project.agents.some((e) => e.path === named.path && e.hash === named.hash);
    requireTrusted({ isTrusted: () => usable }, { path: named.path, hash: named.hash, what: `the agent '${named.name}'` });
  }
  const rights = effectiveRights({ parent: PRIMARY_RIGHTS, definition: named?.value.permissions ?? "inherit", policy: { deny: project.settings.permissions.deny } });
  if (rights.status === "refused") throw new CruError("permission_refused", rights.message);
  return {
    name: named?.name ?? PRIMARY_NAME,
    hash: named?.hash ?? "builtin",
    prompt: "",
    model: resolveModel(project.settings.model),
    modelSource: "default",
    permissions: rights.granted,
    requiresApproval: named?.value.requiresApproval ?? [],
    approvalTimeoutS: named?.value.approvalTimeoutS,
  };
}

function identityOf(name: string, session: SessionWriter): AgentIdentity {
  return { name, sessionId: session.id, traceId: session.traceId, spanId: newSpanId(), parentSpanId: null, parentChain: ["user", name], depth: 0 };
}

/** As it calls itself, in letters that are safe in a record. */
function clientName(client: string): string {
  return client.toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[-._]+|[-._]+$/g, "").slice(0, 40) || "client";
}
