import type { Env } from "../../config/paths.ts";
import { resolveModel } from "../../contract/model.ts";
import type { RunRequest } from "../../contract/runner.ts";
import { type Credential, PLACEHOLDER } from "../credential.ts";
import { offeredTools } from "./tool-rights.ts";

/** Where things are for the agent: paths inside the sandbox, or plain ones where there is none. */
export type Places = { configFolder: string; socket: string | undefined; mcpConfig: string | undefined };

/** The command line after the program. Nothing secret stands here. */
export function claudeArguments(request: RunRequest, session: { id: string; resumed: boolean }, places: Places, extra: readonly string[]): string[] {
  const { offered, disallowed } = offeredTools({ permissions: request.permissions, depth: request.agent.depth });
  const { maxIterations, budgetUsd } = request.limits;
  return [
    "-p", "--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--include-partial-messages",
    // Hidden from the CLI's help: questions and permissions come over stdin and stdout.
    "--permission-prompt-tool", "stdio", "--permission-mode", "default",
    // A worktree's own settings must not loosen the gates.
    "--setting-sources", "", "--strict-mcp-config",
    ...(places.mcpConfig === undefined ? [] : ["--mcp-config", places.mcpConfig]),
    ...(session.resumed ? ["--resume", session.id] : ["--session-id", session.id]),
    "--model", resolveModel(request.model),
    ...(Number.isFinite(maxIterations) && maxIterations > 0 ? ["--max-turns", String(maxIterations)] : []),
    ...(budgetUsd === null ? [] : ["--max-budget-usd", String(budgetUsd)]),
    ...extra,
    "--tools", offered.join(","), ...(disallowed.length === 0 ? [] : ["--disallowedTools", disallowed.join(",")]),
  ];
}

export const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  DISABLE_ERROR_REPORTING: "1",
  // A task in the background would outlive the turn that the outcome is read from.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
};

/** The agent's variables beside PATH and HOME. With a credential of ours a placeholder goes in and the socket adds the real one. */
export function claudeEnvironment(places: Places, credential: Credential | undefined, options: { maxRetries: number; host: Env }): Record<string, string> {
  const login: Record<string, string> =
    credential === undefined || places.socket === undefined
      ? userLogin(options.host)
      : { ANTHROPIC_UNIX_SOCKET: places.socket, ANTHROPIC_BASE_URL: "http://model.invalid", [credential.variable]: PLACEHOLDER };
  return { ...QUIET, ...mcpTimes(options.host), CLAUDE_CONFIG_DIR: places.configFolder, CLAUDE_CODE_MAX_RETRIES: String(options.maxRetries), ...login };
}

/** The CLI begins when every server has answered or had its time; a call of one may take as long as an agent of ours works. */
function mcpTimes(host: Env): Record<string, string> {
  return { MCP_TIMEOUT: host.MCP_TIMEOUT ?? "20000", MCP_TOOL_TIMEOUT: host.MCP_TOOL_TIMEOUT ?? String(24 * 60 * 60 * 1000) };
}

/** Logins that only the CLI itself can use: keychains, clouds. Never inside a sandbox. */
function userLogin(host: Env): Record<string, string> {
  const wanted = /^(?:ANTHROPIC_|CLAUDE_CODE_USE_|CLAUDE_CONFIG_DIR$|AWS_|GOOGLE_|CLOUD_ML_|VERTEX_|AZURE_|HTTPS?_PROXY$|NO_PROXY$|USER$)/i;
  return Object.fromEntries(Object.entries(host).flatMap(([name, value]) => (value !== undefined && wanted.test(name) ? [[name, value]] : [])));
}
