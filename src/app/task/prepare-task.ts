import { join } from "node:path";
import { durationMs } from "../../contract/duration.ts";
import { CruError } from "../../contract/error.ts";
import { type RunnerName, RUNNERS } from "../../contract/runner.ts";
import { probeSandbox, sandboxMissing } from "../../sandbox/probe.ts";
import { findSession } from "../../session/list-sessions.ts";
import { readSession, type ReadSession } from "../../session/read-session.ts";
import { openTrust } from "../../trust/open-trust.ts";
import { openRepository, type Repository } from "../../worktree/repository.ts";
import { chooseRunner, requireExternalRunner } from "../choose-runner.ts";
import { type ChatInput, choosePrimary, openProject, type Primary, type Project } from "../chat/open-chat.ts";
import { openTaskPrompt, type TaskPrompt } from "./task-prompt.ts";
import type { TaskRequest } from "./task.ts";

/** Who works on a bead that names nobody. */
const DEFAULT_AGENT = "implementer";
/** A change takes more steps than an answer. */
const LEAST_ITERATIONS = 60;

export type Prepared = {
  project: Project;
  repository: Repository;
  runner: RunnerName;
  agent: Primary;
  prompt: TaskPrompt;
  inPlace: boolean;
  limits: { maxIterations: number; timeoutMs: number; idleMs: number; budgetUsd: number | null };
  /** The session that is gone on with. */
  earlier: ReadSession | undefined;
};

/** Everything that can be wrong before anything is made: usage, settings, model, provider, trust; then git and the sandbox. */
export async function prepareTask(request: TaskRequest): Promise<Prepared> {
  const { env } = request;
  const input: ChatInput = {
    cwd: request.cwd, env, trust: request.trust, agent: request.agent ?? DEFAULT_AGENT, model: request.model, allow: [], deny: [], maxIterations: undefined, budgetUsd: request.budgetUsd,
  };
  const project = await openProject(input);
  const { paths, settings } = project;
  const earlier = request.resume === undefined ? undefined : await findEarlier(request.resume, project);
  const wanted = request.runner ?? recordedRunner(earlier) ?? settings.runner;
  const runner = chooseRunner({ wanted, purpose: "task", settings, env, root: paths.root });
  const agent = choosePrimary(withRecorded(input, request, earlier), project, { provider: runner === "model" });
  if (runner !== "model") requireExternalRunner({ name: runner, settings, env, paths });
  const prompt = openTaskPrompt({ paths, env, trust: openTrust(paths, env, { trust: request.trust }) });
  const repository = await openRepository({ root: paths.root, gitDir: paths.gitDir, worktrees: paths.project.worktrees, env });
  if (settings.sandbox.mode === "required") {
    const state = await probeSandbox({ path: env.PATH });
    if (!state.ok) throw sandboxMissing(state);
  }
  return {
    project, repository, runner, agent, prompt, earlier,
    inPlace: earlier?.metadata.task?.in_place ?? request.inPlace,
    limits: {
      // The user's agent program counts turns its own way; time and money bound it.
      maxIterations: runner === "model" ? Math.max(settings.loop.max_iterations, LEAST_ITERATIONS) : Number.POSITIVE_INFINITY,
      timeoutMs: durationMs(settings.timeouts.agent) ?? Number.POSITIVE_INFINITY,
      idleMs: durationMs(settings.timeouts.idle) ?? Number.POSITIVE_INFINITY,
      budgetUsd: settings.limits.budget_usd,
    },
  };
}

async function findEarlier(wanted: string, { paths }: Project): Promise<ReadSession> {
  const id = findSession(paths, wanted);
  const { session, problems } = await readSession(join(paths.project.sessions, id));
  if (session === undefined) throw new CruError("failed", `session ${id} cannot be read: ${problems[0]?.message ?? ""}`);
  const { task } = session.metadata;
  if (task === undefined) throw new CruError("usage", `${id} is no task`, { hint: `go on with \`cru chat --resume ${id}\`` });
  if (session.status === "completed") throw new CruError("usage", `${id} is done`, { hint: `for more, open the bead again: \`cru beads update ${task.bead_id} --status open\`, then \`cru task --bead ${task.bead_id}\`` });
  return session;
}

function recordedRunner(earlier: ReadSession | undefined): RunnerName | undefined {
  return RUNNERS.find((name) => name === earlier?.metadata.runner);
}

/** Who takes a session up again goes on with its agent and model, unless the command line says otherwise. */
function withRecorded(input: ChatInput, request: TaskRequest, earlier: ReadSession | undefined): ChatInput {
  if (earlier === undefined) return input;
  const { primary } = earlier.metadata;
  return { ...input, agent: request.agent ?? primary.agent, model: request.model ?? (primary.model_source === "override" ? primary.model : undefined) };
}
