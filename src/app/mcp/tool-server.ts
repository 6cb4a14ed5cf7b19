import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { toJson } from "../../agent/loop-tools.ts";
import { packageRoot } from "../../config/paths.ts";
import type { AnyTool, ToolResult } from "../../contract/tool.ts";
import { inertLine } from "../../lib/inert.ts";
import instructions from "./instructions.md";
import type { DoorCall } from "./tool-door.ts";

export type ToolSource = {
  tools(): Promise<readonly AnyTool[]>;
  call(client: string, call: DoorCall): Promise<ToolResult>;
};

const MOST_BYTES = 4 << 20;
/** Clients that give up on silence are told that it goes on. */
const PROGRESS_MS = 5000;

/** Serves tools by the protocol over two streams, in both of its eras. Resolves when the other side is gone. */
export async function serveTools(source: ToolSource, streams: { input: Readable; output: Writable }, warn: (message: string) => void): Promise<void> {
  const { CLIENT_INFO_META_KEY, Server } = await import("@modelcontextprotocol/server");
  const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const gone = new Promise<void>((resolve) => {
    for (const event of ["end", "close"]) streams.input.once(event, resolve);
    for (const event of ["error", "close"]) streams.output.once(event, resolve);
  });
  const handle = serveStdio(makeServer, {
    transport: new StdioServerTransport(streams.input, streams.output, { maxBufferSize: MOST_BYTES }),
    onerror: (error) => warn(inertLine(`MCP: ${error.message}`, 500)),
  });
  await gone;
  await handle.close();

  function makeServer(): InstanceType<typeof Server> {
    const server = new Server({ name: "crucible", version: versionOf() }, { capabilities: { tools: {} }, instructions: instructions.trim() });
    server.setRequestHandler("tools/list", async () => ({ tools: (await source.tools()).map(describe) }));
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const token = mcpReq._meta?.progressToken;
      let message = "working";
      let progress = 0;
      const tell = (): void => {
        if (token !== undefined) void mcpReq.notify({ method: "notifications/progress", params: { progressToken: token, progress: ++progress, message } }).catch(() => {});
      };
      const timer = setInterval(tell, PROGRESS_MS);
      try {
        // The newer era has no handshake: every request says whose it is.
        const client = (mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
        const result = await source.call(nameOf(client), {
          tool: params.name, input: params.arguments ?? {}, signal: mcpReq.signal,
          asking(question) {
            message = `a person is needed: cru inbox show ${question.id}`;
            tell();
          },
        });
        return { content: [{ type: "text" as const, text: result.output }], ...(result.ok ? {} : { isError: true }) };
      } finally {
        clearInterval(timer);
      }
    });
    return server;
  }
}

function describe(tool: AnyTool): { name: string; description: string; inputSchema: { type: "object" }; annotations: { readOnlyHint: boolean } } {
  return { name: tool.name, description: tool.description, inputSchema: { ...(tool.inputJson ?? toJson(tool.input)), type: "object" }, annotations: { readOnlyHint: !tool.changes && tool.name !== "spawn_agent" } };
}

function nameOf(client: unknown): string {
  const { name } = typeof client === "object" && client !== null ? (client as { name?: unknown }) : {};
  return typeof name === "string" ? name : "";
}

function versionOf(): string {
  const { version } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")) as { version: string };
  return version;
}
