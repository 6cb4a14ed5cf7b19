import type { Budget } from "../../agent/budget.ts";
import type { Env } from "../../config/paths.ts";
import type { CruEvent, Emit } from "../../contract/event.ts";
import type { ModelDelta, StreamModel } from "../../contract/model-call.ts";
import type { Question } from "../../contract/question.ts";
import type { AgentIdentity, DecisionHelp, Outcome } from "../../contract/runner.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Queue } from "../../lib/queue.ts";
import type { Redactor } from "../../lib/redact.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { spawnAgentTool, startTask } from "../../subagents/spawn-agent.ts";
import type { Child, Parent, SpawnDeps, Suspended } from "../../subagents/spawn.ts";
import type { McpTools } from "../../tools/mcp/connect-mcp-servers.ts";
import { projectGuidance } from "../project-guidance.ts";
import { createAsk } from "./ask.ts";
import { spawnDeps } from "./children.ts";
import type { Primary, Project } from "./open-chat.ts";
import { type AgentDeps, type AgentEnd, type AgentSpec, runAgent } from "./run-agent.ts";
import type { TimeLimit } from "./time-limit.ts";
import { type Sandbox, toolSet } from "./tool-set.ts";

export type Chat = {
  project: Project;
  primary: Primary;
  session: SessionWriter;
  recorded: readonly CruEvent[];
  emit: Emit;
  budget: Budget;
  limit: TimeLimit;
  wait: boolean;
  env: Env;
  signal: AbortSignal;
  onDelta(span: string, delta: ModelDelta): void;
  redactor: Redactor;
  queue: Queue;
  stream: StreamModel;
  sandbox: Sandbox;
  mcp: McpTools;
  /** What the user said while the primary worked. */
  takeGuidance(): string[];
  asking(question: Question, help: DecisionHelp): void;
};

/** The agents of one session: how its primary and every child get what they need. */
export function agentsOf(chat: Chat): { runPrimary(identity: AgentIdentity, prompt: string, followUp: string | undefined): Promise<AgentEnd> } {
  const { project, primary } = chat;
  const { settings, paths } = project;
  const workspace = paths.root;
  const deps: AgentDeps = {
    stream: chat.stream,
    budget: chat.budget,
    emit: chat.emit,
    onDelta: chat.onDelta,
    signal: chat.signal,
    workspace,
    allow: settings.permissions.allow,
    sandboxed: chat.sandbox.works,
    windowTokens: settings.loop.window_tokens,
    recorded: chat.recorded,
    now: systemClock.monotonicMs,
  };
  const children: SpawnDeps = spawnDeps({
    session: chat.session,
    emit: chat.emit,
    clock: systemClock,
    queue: chat.queue,
    findAgent: project.find,
    readPrompt: project.readPrompt,
    defaultModel: settings.model,
    deny: settings.permissions.deny,
    mostChildren: settings.limits.children_total,
    stream: chat.stream,
    signal: chat.signal,
    recorded: chat.recorded,
    runChild,
  });

  return {
    runPrimary(identity, prompt, followUp) {
      if (!chat.recorded.some((e) => e.type === "agent.started" && e.depth === 0)) emitPrimary(identity, prompt);
      const guidance = projectGuidance(workspace);
      const system = guidance === "" ? primary.prompt : `${primary.prompt}\n\n# About this project\n\n${guidance}`;
      return runAgent(specOf({ ...primary, identity, system, prompt, followUp, attempting: () => prompt }), deps);
    },
  };

  async function runChild(child: Child, prompt: string, attempt: number): Promise<Outcome | Suspended> {
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
    // A second attempt is a conversation of its own.
    const end = await runAgent(spec, attempt === 1 ? deps : { ...deps, recorded: [] });
    return end.inboxId === null ? outcomeOf(end, chat.limit.signal.aborted) : { status: "suspended", inboxId: end.inboxId };
  }

  function specOf(agent: AgentParts): AgentSpec {
    const { identity } = agent;
    const ask = createAsk(identity, agent.approvalTimeoutS, {
      paths, clock: systemClock, redactor: chat.redactor, emit: chat.emit, approvals: settings.approvals, canWait: chat.wait, signal: chat.signal,
      waiting: (wait) => chat.limit.waiting(wait), recorded: chat.recorded, asking: chat.asking,
    });
    const parent: Parent = { identity, model: agent.model, permissions: agent.permissions, attempting: agent.attempting };
    const tools = [...toolSet({ project, ask, sandbox: chat.sandbox, identity, permissions: agent.permissions, env: chat.env, emit: chat.emit }), ...chat.mcp.toolsFor(ask), spawnAgentTool(parent, spawnable(), children)];
    return {
      identity, system: agent.system, prompt: agent.prompt, model: agent.model, permissions: agent.permissions, requiresApproval: agent.requiresApproval,
      maxIterations: settings.loop.max_iterations, tools, ask, startTask: startTask(parent, children), followUp: agent.followUp,
      takeGuidance: identity.depth === 0 ? chat.takeGuidance : () => [],
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

/** How a child's loop ended, in the words of a result. */
function outcomeOf(end: AgentEnd, timedOut: boolean): Outcome {
  const nothing = { output: null, tokens: { input: 0, output: 0 }, costUsd: 0, costEstimated: false, denials: end.denials };
  if (timedOut) return { ...nothing, status: "timeout", text: end.text, error: { type: "timeout", message: "the time limit was reached" } };
  if (end.status === "complete") return { ...nothing, status: end.lastDenied ? "denied" : "completed", text: end.text, error: null };
  if (end.reason === "max_iterations") return { ...nothing, status: "partial", text: end.text, error: null };
  const error = end.error ?? { type: end.reason, message: end.hint === "" ? `the agent was stopped: ${end.reason}` : end.hint };
  return { ...nothing, status: "failed", text: end.text, error };
}
