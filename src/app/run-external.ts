import { type Env, homeFolder } from "../config/paths.ts";
import type { CruEvent } from "../contract/event.ts";
import type { Outcome, RunDeps, Runner, RunRequest } from "../contract/runner.ts";
import type { SessionWriter } from "../session/session-writer.ts";
import { serverProgram } from "../tools/mcp/server-program.ts";
import type { Primary, Project } from "./chat/open-chat.ts";
import { chooseMcpServers } from "./mcp/choose-mcp-servers.ts";
import { serversForRunner } from "./mcp/servers-for-runner.ts";
import { toolsForRunner } from "./mcp/tools-for-runner.ts";

export type ExternalParts = {
  runner: Runner;
  project: Project;
  agent: Primary;
  session: SessionWriter;
  /** What was recorded, but for the agent's own stream; grows while it runs. */
  recorded: readonly CruEvent[];
  env: Env;
  /** Further MCP servers that the task asks for. */
  mcp: readonly string[];
  warn(message: string): void;
};

/** Runs an agent outside of this process with what it gets from here: the project's MCP servers, and our own tools under its rights. */
export async function runExternal(request: Omit<RunRequest, "mcpServers">, deps: RunDeps, parts: ExternalParts): Promise<Outcome> {
  const { project, agent, env, warn } = parts;
  const { settings } = project;
  const { workspace } = request;
  const place = { workspace, home: homeFolder(env), path: env.PATH };
  const chosen = chooseMcpServers({ settings: settings.mcp, task: parts.mcp, workspace, env }, { find: (server) => serverProgram(server, place) });
  for (const warning of chosen.warnings) warn(warning);
  const tools = await toolsForRunner({
    project, env, workspace, session: parts.session, recorded: parts.recorded, emit: deps.emit, identity: request.agent, agent, attempting: () => request.prompt, task: parts.mcp, signal: deps.signal, warn,
  });
  try {
    const servers = await serversForRunner({ ...place, servers: chosen.servers, permissions: agent.permissions, mode: settings.sandbox.mode, warn });
    try {
      return await parts.runner.run(
        { ...request, mcpServers: { ...servers.mcpServers, ...tools.mcpServers }, binds: [...(request.binds ?? []), ...servers.binds, ...tools.binds] },
        { ...deps, onRunning: tools.onRunning },
      );
    } finally {
      await servers.close();
    }
  } finally {
    await tools.close();
  }
}
