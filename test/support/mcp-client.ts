import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { type Machine, repository } from "./cru.ts";

export type CruMcp = {
  client: Client;
  pid: number;
  stderr(): string;
  names(): Promise<string[]>;
  call(tool: string, input?: Record<string, unknown>, options?: { signal?: AbortSignal; onprogress?: (progress: { message?: string | undefined }) => void }): Promise<{ ok: boolean; text: string }>;
  close(): Promise<void>;
};

/** The protocol's own client on the built `cru mcp`, as a user would configure it. */
export async function cruMcp(box: Pick<Machine, "home" | "project">, options: { args?: string[]; env?: Record<string, string>; modern?: boolean } = {}): Promise<CruMcp> {
  const transport = new StdioClientTransport({
    command: process.execPath, args: [join(repository, "dist", "main.js"), "mcp", ...(options.args ?? [])], cwd: box.project, stderr: "pipe",
    env: { PATH: process.env.PATH ?? "", HOME: box.home, ...options.env },
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString("utf8")));
  const client = new Client({ name: "Test Client", version: "1" }, options.modern === true ? { versionNegotiation: { mode: "auto" } } : {});
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    pid: transport.pid ?? 0,
    stderr: () => stderr,
    names: async () => (await client.listTools()).tools.map((tool) => tool.name),
    async call(tool, input = {}, more = {}) {
      const result = await client.callTool({ name: tool, arguments: input }, { timeout: 60_000, ...more });
      const text = result.content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
      return { ok: result.isError !== true, text };
    },
    close: () => client.close(),
  };
}
