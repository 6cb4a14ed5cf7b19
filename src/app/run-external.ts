import type { Env } from "../config/paths.ts";
import type { CruEvent } from "../contract/event.ts";
import type { Question } from "../contract/question.ts";
import type { DecisionHelp, Outcome, RunDeps, Runner, RunRequest } from "../contract/runner.ts";
import type { SessionWriter } from "../session/session-writer.ts";
import type { Primary, Project } from "./chat/open-chat.ts";
import { openRunnerMcp } from "./mcp/open-runner-mcp.ts";

export type ExternalParts = {
  runner: Runner;
  project: Project;
  agent: Primary;
  session: SessionWriter;
  /** What was recorded, but for the agent's own stream; grows while it runs. */
  recorded: readonly CruEvent[];
  env: Env;
  /** Whether answers are waited for; else a question of what it starts ends it, as one of its own would. */
  wait: boolean;
  ownGit: boolean;
  /** Further MCP servers that the task asks for. */
  mcp: readonly string[];
  asking(question: Question, help: DecisionHelp): void;
  warn(message: string): void;
};

/** Runs an agent outside of this process with what it gets from here: the project's MCP servers, and our own tools under its rights. */
export async function runExternal(request: Omit<RunRequest, "mcpServers">, deps: RunDeps, parts: ExternalParts): Promise<Outcome> {
  const { project, agent, env, session, recorded, wait, warn, asking } = parts;
  const held = new AbortController();
  let inboxId: string | undefined;
  const mcp = await openRunnerMcp({
    project, env, session, recorded, agent, wait, warn, asking, workspace: request.workspace, emit: deps.emit, identity: request.agent, attempting: () => request.prompt, task: parts.mcp, signal: deps.signal,
    worktree: { binds: request.binds ?? [], ownGit: parts.ownGit },
    suspended(id) {
      inboxId ??= id;
      held.abort(new DOMException("a person is needed", "AbortError"));
    },
  });
  try {
    const outcome = await parts.runner.run(
      { ...request, mcpServers: mcp.mcpServers, binds: [...(request.binds ?? []), ...mcp.binds] },
      { ...deps, signal: AbortSignal.any([deps.signal, held.signal]), onRunning: mcp.onRunning },
    );
    const isHeld = inboxId !== undefined && outcome.reason === "cancelled" && !deps.signal.aborted;
    return isHeld ? { ...outcome, status: "blocked", reason: "suspended", error: null, ...(inboxId === undefined ? {} : { inboxId }) } : outcome;
  } finally {
    await mcp.close();
  }
}
