import { join } from "node:path";
import { type Env, homeFolder, type Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import type { AgentIdentity, Runner, RunnerName } from "../contract/runner.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import { findProgram } from "../lib/find-program.ts";
import { safeName } from "../lib/slug.ts";
import { configuredProviders } from "../llm/provider.ts";
import { findAcpProgram } from "../runner/acp/acp-program.ts";
import { createAcpRunner } from "../runner/acp/acp-runner.ts";
import { createClaudeRunner } from "../runner/claude/claude-runner.ts";
import { findCredential } from "../runner/credential.ts";

export type RunnerChoice = {
  /** What the flag or the setting says. */
  wanted: Settings["runner"];
  /** A chat prefers the loop of this process, work on a bead the user's own agent program. */
  purpose: "chat" | "task";
  settings: Pick<Settings, "claude" | "acp">;
  env: Env;
  root: string;
};

/** Which runner it is; of `auto`, the first that is there. */
export function chooseRunner({ wanted, purpose, settings, env, root }: RunnerChoice): RunnerName {
  if (wanted !== "auto") return wanted;
  const model = configuredProviders(env).length > 0;
  if (purpose === "chat" && model) return "model";
  if (hasClaude({ settings, env, root })) return "claude";
  return purpose === "task" && settings.acp.command !== null ? "acp" : "model";
}

export type ExternalRunnerInput = { name: Exclude<RunnerName, "model">; settings: Settings; env: Env; paths: Pick<Paths, "root" | "user"> };

/** The runner for agents outside this process. The one place where kinds of them are known. */
export function openExternalRunner(input: ExternalRunnerInput): Runner {
  const { name, settings, env } = input;
  const setup = { sandbox: settings.sandbox, allow: settings.permissions.allow, env, home: homeFolder(env), stateFolder: (agent: AgentIdentity) => agentStateFolder(input.paths, agent) };
  return name === "acp" ? createAcpRunner({ ...setup, acp: settings.acp }) : createClaudeRunner({ ...setup, claude: settings.claude });
}

/** Says what is missing before anything is made; a login that only the program itself can read is left to it where there is no sandbox. */
export function requireExternalRunner({ name, settings, env, paths }: ExternalRunnerInput): void {
  if (name === "acp") {
    findAcpProgram(settings.acp, { path: env.PATH, workspace: paths.root, home: homeFolder(env) });
    return;
  }
  if (!hasClaude({ settings, env, root: paths.root })) {
    throw new CruError("provider_missing", `the agent program '${settings.claude.command}' was not found`, {
      hint: "install Claude Code (npm install -g @anthropic-ai/claude-code), name it (cru config set claude.command PATH), or take --runner model",
    });
  }
  if (settings.sandbox.mode !== "required" || findCredential(env, homeFolder(env)) !== undefined) return;
  throw new CruError("provider_missing", "there is no login for the Claude CLI", { hint: "set ANTHROPIC_API_KEY or CLAUDE_CODE_OAUTH_TOKEN (from `claude setup-token`), or log in with `claude`" });
}

/** Outside of the project: what an agent keeps between its processes is nobody's to commit. */
export function agentStateFolder(paths: Pick<Paths, "root" | "user">, agent: Pick<AgentIdentity, "sessionId" | "spanId">): string {
  return join(sessionStateFolder(paths, agent.sessionId), agent.spanId);
}

export function sessionStateFolder(paths: Pick<Paths, "root" | "user">, sessionId: string): string {
  return join(paths.user.state, "agents", safeName(paths.root, 80), sessionId);
}

function hasClaude({ settings, env, root }: Pick<RunnerChoice, "settings" | "env" | "root">): boolean {
  return findProgram(settings.claude.command, { path: env.PATH, notBelow: root }) !== undefined;
}
