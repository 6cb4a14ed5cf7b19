import { modelCaller, type ModelDeps } from "../../agent/ask-model.ts";
import type { Budget } from "../../agent/budget.ts";
import type { Who } from "../../agent/call-tool.ts";
import type { Env } from "../../config/paths.ts";
import type { CruEvent, Emit } from "../../contract/event.ts";
import type { ModelDelta, StreamModel } from "../../contract/model-call.ts";
import type { Question } from "../../contract/question.ts";
import type { AgentIdentity, Ask, DecisionHelp, Outcome, RunBind } from "../../contract/runner.ts";
import type { AnyTool } from "../../contract/tool.ts";
import { isRevoked } from "../../inbox/revoke.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Queue } from "../../lib/queue.ts";
import type { Redactor } from "../../lib/redact.ts";
import { estimateCall } from "../../llm/price.ts";
import { requireProvider } from "../../llm/provider.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { spawnAgentTool, startTask } from "../../subagents/spawn-agent.ts";
import type { Child, Parent, SpawnDeps, Suspended } from "../../subagents/spawn.ts";
import type { McpTools } from "../../tools/mcp/connect-mcp-servers.ts";
import { projectGuidance } from "../project-guidance.ts";
import { attemptsOf } from "./attempts.ts";
import { type AskDeps, createAsk } from "./ask.ts";
import { spawnDeps } from "./children.ts";
import { type Decisions, decisionsOf, grantsOf } from "./decisions-of.ts";
import { explainAction, type SoFar, withoutAsking } from "./explain.ts";
import type { Primary, Project } from "./open-chat.ts";
import { type AgentDeps, type AgentEnd, type AgentSpec, newRequestId, openDesk, runAgent, type ToolDesk } from "./run-agent.ts";
import type { TimeLimit } from "./time-limit.ts";
import { type Sandbox, toolSet } from "./tool-set.ts";

export type Chat = {
  project: Project;
  primary: Primary;
  /** Set when the workspace is a worktree: what commands see beside it, and whether what they do to `.git` is done to a copy. */
  worktree?: { binds: readonly RunBind[]; ownGit: boolean };
  session: SessionWriter;
  /** Real path of the folder that its agents work in. */
  workspace: string;
  recorded: readonly CruEvent[];
  /** Spans of the children that were started, also by earlier processes. */
  children: Set<string>;
  emit: Emit;
  budget: Budget;
  limit: TimeLimit;
  wait: boolean;
  /** Nobody takes up again what is asked here: an open question is withdrawn when the work ends. */
  withdraws?: boolean;
  env: Env;
  signal: AbortSignal;
  onDelta(span: string, delta: ModelDelta): void;
  redactor: Redactor;
  queue: Queue;
  stream: StreamModel;
  sandbox: Sandbox;
  mcp: McpTools;
  notes: readonly AnyTool[];
  /** What the user said while the primary worked. */
  takeGuidance(): string[];
  asking(question: Question, help: DecisionHelp): void;
  /** What a replay puts in place of the world: who is asked, and what tools do. */
  instead?: {
    /** `explain` is the agent's own answer to what a person asks about its question. */
    ask(identity: AgentIdentity, explain: (title: string, text: string) => Promise<string>): Ask;
    tools(tools: readonly AnyTool[], identity: AgentIdentity): AnyTool[];
    isRevoked(id: string, callId: string): boolean;
  };
};

export type Agents = {
  runPrimary(identity: AgentIdentity, prompt: string, followUp: string | undefined): Promise<AgentEnd>;
  /** For the agent that the session is about, when its loop runs elsewhere. It has MCP servers of its own. */
  desk(identity: AgentIdentity, attempting: () => string): ToolDesk;
};

/** The agents of one session: how its primary and every child get what they need. */
export function agentsOf(chat: Chat): Agents {
  const { project, primary } = chat;
  const { settings, paths } = project;
  const { workspace } = chat;
  const deps: AgentDeps = {
    stream: chat.stream,
    budget: chat.budget,
    emit: chat.emit,
    onDelta: chat.onDelta,
    signal: chat.signal,
    workspace,
    allow: settings.permissions.allow,
    sandboxed: chat.sandbox.works,
    ownGit: chat.worktree?.ownGit ?? false,
    windowTokens: settings.loop.window_tokens,
    recorded: chat.recorded,
    redact: (value) => chat.redactor.value(value),
    now: systemClock.monotonicMs,
  };
  const children: SpawnDeps = spawnDeps({
    session: chat.session,
    emit: chat.emit,
    clock: systemClock,
    queue: chat.queue,
    signal: chat.signal,
    findAgent: project.find,
    readPrompt: project.readPrompt,
    defaultModel: settings.model,
    deny: settings.permissions.deny,
    mostChildren: settings.limits.children_total,
    callModel: (child, setup, prompt) => modelCaller(setup, { ...modelDeps(child.identity), signal: chat.signal, purpose: "critique" })([{ role: "user", content: prompt }]),
    recorded: chat.recorded,
    known: chat.children,
    requireProvider: (model) => void (chat.instead === undefined && requireProvider(model, chat.env)),
    runChild,
  });

  return {
    runPrimary(identity, prompt, followUp) {
      if (!chat.recorded.some((e) => e.type === "agent.started" && e.depth === 0)) emitPrimary(identity, prompt);
      const guidance = projectGuidance(workspace);
      const system = guidance === "" ? primary.prompt : `${primary.prompt}\n\n# About this project\n\n${guidance}`;
      return runAgent(specOf({ ...primary, identity, system, prompt, followUp, attempting: () => prompt }), deps);
    },
    desk: (identity, attempting) => openDesk(specOf({ ...primary, identity, system: "", prompt: "", followUp: undefined, attempting }, []), deps),
  };

  async function runChild(child: Child, prompt: string): Promise<Outcome | Suspended> {
    const { value } = child.entry;
    const spec = specOf({
      identity: child.identity,
      system: child.prompt,
      prompt,
      followUp: undefined,
      model: child.model,
      permissions: child.permissions,
      // A gate that holds for the parent holds for what it starts.
      requiresApproval: [...new Set([...primary.requiresApproval, ...value.requiresApproval])],
      approvalTimeoutS: value.approvalTimeoutS,
      attempting: () => child.task,
    });
    // Each attempt is a conversation of its own.
    const recorded = value.enableReflection ? attemptsOf(chat.recorded, child.identity.spanId).rest : deps.recorded;
    const end = await runAgent(spec, { ...deps, recorded });
    const decisions = decisionsOf(chat.recorded, child.identity.spanId);
    return end.inboxId === null ? outcomeOf(end, decisions, chat.limit.signal.aborted) : { status: "suspended", inboxId: end.inboxId };
  }

  function specOf(agent: AgentParts, mcp: readonly AnyTool[] | undefined = undefined): AgentSpec {
    const { identity } = agent;
    let soFar = (): SoFar => ({ messages: [], open: undefined });
    const explainTitled = (title: string, text: string, signal: AbortSignal): Promise<string> =>
      explainAction({ model: agent.model, system: agent.system, soFar: soFar(), title, text }, { ...modelDeps(identity), signal });
    const explain: AskDeps["explain"] = (question, text, signal) => explainTitled(question.title, text, signal);
    const waits = createAsk(identity, agent.approvalTimeoutS, {
      paths, clock: systemClock, redactor: chat.redactor, emit: chat.emit, approvals: settings.approvals, canWait: chat.wait,
      signal: chat.withdraws === true ? new AbortController().signal : chat.signal,
      waiting: (wait) => chat.limit.waiting(wait), recorded: chat.recorded, asking: chat.asking, explain,
    });
    const ask: Ask = chat.instead?.ask(identity, (title, text) => explainTitled(title, text, chat.signal)) ?? (chat.withdraws === true ? (question) => waits({ ...question, signal: question.signal ?? chat.signal }) : waits);
    const parent: Parent = { identity, model: agent.model, permissions: agent.permissions, attempting: agent.attempting };
    const given = [...toolSet({ project, workspace, redactor: chat.redactor, ask, sandbox: chat.sandbox, identity, permissions: agent.permissions, requiresApproval: agent.requiresApproval, env: chat.env, emit: chat.emit, notes: chat.notes, binds: chat.worktree?.binds ?? [] }), ...(mcp ?? chat.mcp.toolsFor(ask)), spawnAgentTool(parent, spawnable(), children)];
    const tools = chat.instead?.tools(given, identity) ?? given;
    return {
      identity, system: agent.system, prompt: agent.prompt, model: agent.model, permissions: agent.permissions, requiresApproval: agent.requiresApproval,
      maxIterations: settings.loop.max_iterations, tools, ask, startTask: startTask(parent, children), followUp: agent.followUp,
      onConversation: (read) => (soFar = read),
      standing: (grant, callId) => standing(identity, grant, callId),
      reused: ({ id, grant, tool, callId, title }) => chat.emit({ type: "inbox.reused", ...whoIs(identity), id, grant, tool, call_id: callId, title }),
      takeGuidance: identity.depth === 0 ? chat.takeGuidance : () => [],
    };
  }

  /** Found in the record, so it holds after a restart too; taking it back is a file beside the answer. */
  function standing(identity: AgentIdentity, grant: string, callId: string): string | undefined {
    const id = grantsOf(chat.recorded, identity.name).get(grant);
    if (id === undefined) return undefined;
    const revoked = chat.instead === undefined ? isRevoked(paths.project.inbox, id) : chat.instead.isRevoked(id, callId);
    if (!revoked) return id;
    chat.emit({ type: "inbox.revoked", ...whoIs(identity), id, grant });
    return undefined;
  }

  /** For calls beside a conversation. */
  function modelDeps(identity: AgentIdentity): Omit<ModelDeps, "signal" | "purpose"> {
    return {
      stream: chat.stream, onDelta: () => {}, emit: chat.emit, who: whoIs(identity), budget: chat.budget, estimate: estimateCall, ask: withoutAsking,
      newId: newRequestId, redact: (value) => chat.redactor.value(value),
    };
  }

  function spawnable(): { name: string; description: string }[] {
    return project.agents.map((e) => ({ name: e.name, description: e.value.description }));
  }

  function emitPrimary(identity: AgentIdentity, prompt: string): void {
    chat.emit({
      type: "agent.started", session_id: identity.sessionId, span_id: identity.spanId, agent: identity.name, task: prompt, model: primary.model,
      model_source: primary.modelSource, runner: "model", depth: 0, permissions: [...primary.permissions], parent_span_id: null,
      parent_chain: [...identity.parentChain], definition_hash: primary.hash,
    });
  }
}

type AgentParts = Pick<AgentSpec, "identity" | "system" | "prompt" | "followUp" | "model" | "permissions" | "requiresApproval"> & {
  approvalTimeoutS: number | undefined;
  attempting(): string;
};

function whoIs(identity: AgentIdentity): Who {
  return { session_id: identity.sessionId, span_id: identity.spanId };
}

/** How a child's loop ended, in the words of a result. */
function outcomeOf(end: AgentEnd, decisions: Decisions, timedOut: boolean): Outcome {
  const { denials, modifications } = decisions;
  const nothing = { output: null, tokens: { input: 0, output: 0 }, costUsd: 0, costEstimated: false, denials, modifications };
  if (timedOut) return { ...nothing, status: "timeout", text: end.text, error: { type: "timeout", message: "the time limit was reached" } };
  if (end.status === "complete") return { ...nothing, status: decisions.lastDenied ? "denied" : "completed", text: end.text, error: null };
  if (end.reason === "max_iterations") return { ...nothing, status: "partial", text: end.text, error: null };
  const error = end.error ?? { type: end.reason, message: end.hint === "" ? `the agent was stopped: ${end.reason}` : end.hint };
  return { ...nothing, status: "failed", text: end.text, error };
}
