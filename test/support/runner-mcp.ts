import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { serversForRunner, type RunnerServers } from "../../src/app/mcp/servers-for-runner.ts";
import type { Permission } from "../../src/contract/permission.ts";
import type { McpServer } from "../../src/contract/settings.ts";
import type { Settings } from "../../src/contract/settings-defaults.ts";
import { repository } from "./cru.ts";
import type { Stage } from "./claude.ts";

export const IMPLEMENTER: Permission[] = ["FilesystemRead", "FilesystemWrite", "SemanticSearch", "Shell"];

/** The test server, outside of everything that an agent sees. */
export function testServer(at: Stage, more: McpServer = {}): McpServer {
  const folder = join(at.base, "servers");
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(repository, "test", "support", "mcp-server.mjs"), join(folder, "mcp-server.mjs"));
  return { command: "node", args: [join(folder, "mcp-server.mjs"), "good"], permissions: ["FilesystemRead"], ...more };
}

export async function runnerServers(at: Stage, servers: Record<string, McpServer>, options: { permissions?: Permission[]; mode?: Settings["sandbox"]["mode"] } = {}): Promise<RunnerServers & { warnings: string[] }> {
  const warnings: string[] = [];
  const opened = await serversForRunner({
    servers, permissions: options.permissions ?? IMPLEMENTER, workspace: at.worktree, home: at.home, path: process.env.PATH, mode: options.mode ?? "required", warn: (message) => warnings.push(message),
  });
  return { ...opened, warnings };
}
