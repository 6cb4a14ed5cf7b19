import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { mcpPlace } from "../../support/mcp.ts";

type Rpc = { id?: number; method: string; params?: { name?: string } };
type Handler = (message: Rpc, response: ServerResponse, request: IncomingMessage) => boolean;

/** A server over HTTP that answers each POST with one JSON message. `first` may answer in its stead. */
async function httpServer(first: Handler = () => false): Promise<{ url: string; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    let body = "";
    request.on("data", (chunk) => (body += chunk)).on("end", () => {
      const message = request.method === "POST" ? (JSON.parse(body) as Rpc) : { method: request.method ?? "" };
      if (!first(message, response, request)) answer(message, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, seen };
}

function answer(message: Rpc, response: ServerResponse): void {
  const results: Record<string, unknown> = {
    initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "h", version: "1" } },
    "tools/list": { tools: [{ name: "hello", inputSchema: { type: "object" } }, { name: "huge", inputSchema: { type: "object" } }] },
    "tools/call": { content: [{ type: "text", text: message.params?.name === "huge" ? "x".repeat(300_000) : "hello over http" }] },
  };
  if (results[message.method] === undefined) return void response.writeHead(message.id === undefined && message.method !== "GET" ? 202 : 405).end();
  response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: results[message.method] }));
}

it("a url server's tools need NetworkAccess whatever it names, and work", async () => {
  const { url, seen } = await httpServer();
  const { connect } = mcpPlace();
  const { tool, call, warnings } = await connect({ h: { url, permissions: ["FilesystemRead"] } });
  expect(warnings).toEqual([]);
  expect(tool("mcp__h__hello")).toMatchObject({ needs: ["FilesystemRead", "NetworkAccess"], asks: { reason: "it goes over the network", reversible: false } });
  expect(await call("mcp__h__hello")).toEqual({ ok: true, output: "hello over http" });
  expect(seen.every((request) => request.headers.authorization === undefined && request.headers.cookie === undefined)).toBe(true);
});

it("is not even spoken to by an agent without NetworkAccess", async () => {
  const { url, seen } = await httpServer();
  const { connect } = mcpPlace();
  const { tools, warnings } = await connect({ h: { url, permissions: [] } }, { permissions: ["FilesystemRead", "SemanticSearch"] });
  expect([tools, warnings]).toEqual([[], ["the MCP server h is left out: the agent lacks NetworkAccess"]]);
  expect(seen).toEqual([]);
});

it.each([
  ["never answers", () => true, /it did not answer within 0\.4 s/],
  ["never answers the second message", (message: Rpc) => message.method === "notifications/initialized", /it did not answer within 0\.4 s/],
])("one that %s is a warning", async (_, first, why) => {
  const { url } = await httpServer(first);
  const { tools, warnings } = await mcpPlace().connect({ h: { url } }, { limits: { startMs: 400 } });
  expect([tools, warnings]).toEqual([[], [expect.stringMatching(why)]]);
});

it.each([
  ["a refusal", 401],
  ["a page that is no MCP", 200],
])("%s is a warning", async (_, status) => {
  const { url } = await httpServer((_message, response) => {
    response.writeHead(status, { "content-type": "text/html" }).end("<h1>\u001b[31m no</h1>");
    return true;
  });
  const { tools, warnings } = await mcpPlace().connect({ h: { url } });
  expect(tools).toEqual([]);
  expect(warnings).toEqual([expect.stringMatching(/^the MCP server h is left out: /)]);
  expect(warnings.join("")).not.toContain("\u001b");
});

it("a redirect to another place is not followed", async () => {
  const other = await httpServer();
  const { url } = await httpServer((_message, response) => {
    response.writeHead(307, { location: other.url }).end();
    return true;
  });
  const { tools } = await mcpPlace().connect({ h: { url } });
  expect([tools, other.seen]).toEqual([[], []]);
});

it("an answer past the limit is an error of that call only", async () => {
  const { url } = await httpServer();
  const { call } = await mcpPlace().connect({ h: { url } }, { limits: { messageBytes: 100_000 } });
  expect(await call("mcp__h__huge")).toMatchObject({ ok: false, output: expect.stringContaining("more than 100000 bytes") });
  expect(await call("mcp__h__hello")).toMatchObject({ ok: true });
});

it("a call that hangs ends with the signal", async () => {
  const { url } = await httpServer((message) => message.method === "tools/call");
  const { call } = await mcpPlace().connect({ h: { url } });
  const stop = new AbortController();
  const hanging = call("mcp__h__hello", {}, stop.signal);
  setTimeout(() => stop.abort(), 50);
  expect(await hanging).toEqual({ ok: false, output: "MCP server h: the call was stopped" });
});
