import type { ChatInput } from "../app/chat/open-chat.ts";
import { openTools, type ToolsListener } from "../app/mcp/open-tools.ts";
import { serveTools } from "../app/mcp/tool-server.ts";

export type Stdio = { stdin: NodeJS.ReadStream; stdout: NodeJS.WriteStream };

/** Our tools over stdin and stdout, until the client closes them or `signal` says so. Stdout carries the protocol and nothing else. */
export async function serveOverStdio(request: ChatInput, { stdin, stdout }: Stdio, listener: ToolsListener, signal: AbortSignal): Promise<void> {
  const tools = await openTools(request, listener);
  const stop = (): void => void stdin.destroy();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    await serveTools(tools, { input: stdin, output: stdout }, listener.warn);
  } finally {
    signal.removeEventListener("abort", stop);
    await tools.close();
    stdin.destroy();
  }
}
