import { homeFolder } from "../../config/paths.ts";
import type { RunBind, RunDeps } from "../../contract/runner.ts";
import type { McpServer } from "../../contract/settings.ts";
import { chooseMcpServers, onThisMachine } from "./choose-mcp-servers.ts";
import { serversForRunner } from "./servers-for-runner.ts";
import type { DoorInput } from "./tool-door.ts";
import { toolsForRunner } from "./tools-for-runner.ts";

export type RunnerMcp = {
  /** For the `RunRequest`. */
  mcpServers: Record<string, McpServer>;
  binds: RunBind[];
  /** For the `RunDeps`. */
  onRunning: NonNullable<RunDeps["onRunning"]>;
  /** When the run is over. */
  close(): Promise<void>;
};

/** Everything that an agent outside of this process gets over MCP: the servers of settings and task, and our own tools. */
export async function openRunnerMcp(input: DoorInput): Promise<RunnerMcp> {
  const { project, env, workspace, agent, warn } = input;
  const { mcp, sandbox } = project.settings;
  const place = { workspace, home: homeFolder(env), path: env.PATH };
  const chosen = chooseMcpServers({ settings: mcp, task: input.task ?? [], workspace, env }, onThisMachine(place));
  for (const warning of chosen.warnings) warn(warning);
  const servers = await serversForRunner({ ...place, servers: chosen.servers, permissions: agent.permissions, mode: sandbox.mode, warn });
  try {
    const own = await toolsForRunner(input);
    return {
      mcpServers: { ...servers.mcpServers, ...own.mcpServers },
      binds: distinct([...servers.binds, ...own.binds]),
      onRunning: own.onRunning,
      async close() {
        await own.close();
        await servers.close();
      },
    };
  } catch (error) {
    await servers.close();
    throw error;
  }
}

/** Mounting a folder twice is harmless, and one mount too many. */
function distinct(binds: readonly RunBind[]): RunBind[] {
  return binds.filter((bind, i) => binds.findIndex((other) => other.from === bind.from && other.to === bind.to) === i);
}
