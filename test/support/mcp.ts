import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { McpServer } from "../../src/contract/settings.ts";
import type { AnyTool, ToolResult } from "../../src/contract/tool.ts";
import { connectMcpServers, type McpDeps, type McpTools } from "../../src/tools/mcp/connect-mcp-servers.ts";
import { repository } from "./cru.ts";
import { isAlive } from "./processes.ts";
import { temporaryFolder, writeFiles } from "./temp.ts";

export type McpPlace = {
  home: string;
  workspace: string;
  /** A folder that no server is shown. */
  outside: string;
  server(mode: string, more?: McpServer): McpServer;
  connect(servers: Record<string, McpServer>, deps?: Partial<McpDeps>): Promise<McpTools & { call: Call; tool(name: string): AnyTool }>;
};

type Call = (name: string, input?: Record<string, unknown>, signal?: AbortSignal) => Promise<ToolResult>;

/** A home, a workspace, and the test server in a folder of its own. */
export function mcpPlace(): McpPlace {
  const [home, workspace, outside, servers] = [temporaryFolder(), temporaryFolder(), temporaryFolder(), temporaryFolder()];
  writeFiles(home, { "secret.txt": "home-canary" });
  writeFiles(workspace, { "a.txt": "inside" });
  writeFiles(outside, { "canary.txt": "outside-canary" });
  const script = join(servers, "mcp-server.mjs");
  copyFileSync(join(repository, "test", "support", "mcp-server.mjs"), script);
  return {
    home, workspace, outside,
    server: (mode, more = {}) => ({ command: "node", args: [script, mode], permissions: ["FilesystemRead"], ...more }),
    async connect(configured, deps = {}) {
      const mcp = await connectMcpServers(configured, { workspace, home, mode: "required", ...deps });
      onTestFinished(() => mcp.close());
      const tool = (name: string): AnyTool => mcp.tools.find((t) => t.name === name)!;
      const call: Call = async (name, input = {}, signal = new AbortController().signal) => tool(name).run(input as never, { workspace, callId: `call-${name}`, signal, emit: () => {} });
      return { ...mcp, tool, call };
    },
  };
}

/** Host processes whose command line holds the word. */
export function processesWith(word: string): number[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return pid !== process.pid && isAlive(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(word);
    } catch {
      return false;
    }
  });
}
