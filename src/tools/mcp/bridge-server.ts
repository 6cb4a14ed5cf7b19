import type { Duplex } from "node:stream";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import type { McpServer } from "../../contract/settings.ts";
import { createRedactor } from "../../lib/redact.ts";
import { lineReader } from "../../runner/line-reader.ts";
import { isRecord } from "./clean-schema.ts";
import { loadSdk } from "./load-sdk.ts";
import { MCP_LIMITS } from "./limits.ts";
import { openTransport, type TransportDeps } from "./open-server.ts";

export type BridgeDeps = Omit<TransportDeps, "sdk" | "limits">;

/**
 * Runs a server for one connection of somebody who must not see its environment or its network: messages pass, secrets of its settings do not.
 * Resolves when both sides are closed; whatever the server started has ended then.
 */
export async function bridgeServer(server: McpServer, near: Duplex, deps: BridgeDeps): Promise<void> {
  const far = await openTransport(server, { ...deps, sdk: await loadSdk(), limits: MCP_LIMITS }).catch((error: unknown) => {
    near.destroy();
    throw error;
  });
  const redact = createRedactor(server.env ?? {}).value;
  let opening: unknown;
  const send = async (line: string): Promise<void> => {
    const message = parse(line);
    if (message === undefined) return;
    if ("method" in message && message.method === "initialize" && "id" in message) opening = message.id;
    await far.send(message);
  };
  const reader = lineReader({ line: (line) => void send(line).catch(() => near.destroy()), cut: () => void near.destroy() });
  const receive = (message: JSONRPCMessage): void => {
    // Over HTTP every request after the first names the version that was agreed on.
    if ("id" in message && message.id === opening && "result" in message && typeof message.result.protocolVersion === "string") far.setProtocolVersion?.(message.result.protocolVersion);
    near.write(`${JSON.stringify(redact(message))}\n`);
  };
  Object.assign(far, { onmessage: receive, onclose: () => near.end(), onerror: () => {} });
  const closed = new Promise<void>((resolve) => near.on("error", () => {}).once("close", resolve));
  await far.start();
  near.on("data", (chunk: Buffer) => reader.push(chunk));
  near.once("end", () => near.end());
  await closed;
  await far.close().catch(() => {});
}

function parse(line: string): JSONRPCMessage | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return isRecord(message) && message.jsonrpc === "2.0" ? (message as JSONRPCMessage) : undefined;
  } catch {
    return undefined;
  }
}
