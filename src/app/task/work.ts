import type { Outcome } from "../../contract/runner.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { openExternalRunner } from "../choose-runner.ts";
import { mcpLabels } from "../mcp/choose-mcp-servers.ts";
import { projectGuidance } from "../project-guidance.ts";
import { runExternal } from "../run-external.ts";
import { askingOf, askOf, type Attempt } from "./attempt.ts";
import { createModelRunner } from "./model-runner.ts";
import { describeAttempts } from "./prior-attempts.ts";
import type { Workplace } from "./workplace.ts";

/** The agent at work, from its first message to its end. */
export async function work(at: Attempt, place: Workplace): Promise<Outcome> {
  const { prepared, bead, session, identity, emit, signal } = at;
  const { agent, limits } = prepared;
  const prompt = prepared.prompt.render(bead, describeAttempts(at.before));
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
  const { project } = prepared;
  const run = {
    agent: identity, system, prompt, workspace: place.path, model: agent.model, permissions: agent.permissions, requiresApproval: agent.requiresApproval, limits, resume, expectsOutput: true, binds: place.binds,
  };
  const deps = { emit, ask: askOf(at), signal };
  const shared = { project, session, recorded: at.events, env: at.request.env, wait: at.request.wait, ownGit: place.ownGit, asking: askingOf(at), warn: at.listener.warn, mcp: mcpLabels(bead.labels) };
  if (prepared.runner !== "model") {
    const runner = openExternalRunner({ name: prepared.runner, settings: project.settings, env: at.request.env, paths: project.paths });
    return runExternal(run, deps, { ...shared, runner, agent });
  }
  const runner = createModelRunner({ ...shared, primary: agent, onDelta: at.listener.delta });
  return runner.run({ ...run, mcpServers: {} }, deps);
}

function overBudget(session: SessionWriter): Outcome {
  const { tokens, cost_usd, cost_estimated } = session.metadata();
  return {
    status: "blocked", reason: "budget", text: "", output: null, tokens, costUsd: cost_usd, costEstimated: cost_estimated, denials: [],
    error: { type: "budget", message: "the budget for this task is used up" },
  };
}
