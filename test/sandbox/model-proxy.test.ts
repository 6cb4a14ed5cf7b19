import { statSync } from "node:fs";
import { request } from "node:http";
import { dirname } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ModelFailureNote, type ModelProxyInput, startModelProxy } from "../../src/sandbox/model-proxy.ts";
import { scripted } from "../support/scripted.ts";

const BODY = JSON.stringify({ model: "m", stream: true, messages: [{ role: "user", content: "hi" }] });

async function proxyTo(endpoint: string, change: Partial<ModelProxyInput> = {}) {
  const proxy = await startModelProxy({ endpoint, credentials: () => ({ "x-api-key": "real-key" }), session: "own", ...change });
  onTestFinished(() => proxy.close());
  return proxy;
}

function call(socketPath: string, options: { method?: string; path?: string; headers?: Record<string, string>; body?: string } = {}): Promise<{ status: number; text: string; cut: boolean }> {
  return new Promise((resolve, fail) => {
    const asked = request({ socketPath, method: options.method ?? "POST", path: options.path ?? "/v1/messages?beta=true", headers: { "content-type": "application/json", ...options.headers } }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => (text += part));
      answer.on("error", () => {});
      answer.on("close", () => resolve({ status: answer.statusCode ?? 0, text, cut: !answer.complete }));
    });
    asked.on("error", fail);
    asked.end(options.body ?? BODY);
  });
}

describe("the way to the model", () => {
  it("takes model calls of programs that read the address as one with its version", async () => {
    const server = await scripted([{ text: "hello" }]);
    const proxy = await proxyTo(server.url);
    expect(await call(proxy.socket, { path: "/messages" })).toMatchObject({ status: 200 });
    expect(server.requests[0]?.path).toBe("/v1/messages");
    expect(await call(proxy.socket, { path: "/messages/batches" })).toMatchObject({ status: 403 });
  });

  it("adds the key, drops what the agent says of itself, and lies in a folder that is the user's alone", async () => {
    const server = await scripted([{ text: "hello" }]);
    const proxy = await proxyTo(server.url);
    const answer = await call(proxy.socket, { headers: { "x-api-key": "agent-key", authorization: "Bearer agent", cookie: "a=b", "anthropic-beta": "kept" } });
    expect(answer).toMatchObject({ status: 200, cut: false });
    expect(answer.text).toContain("hello");
    expect(server.requests[0]?.headers).toMatchObject({ "x-api-key": "real-key", "anthropic-beta": "kept" });
    expect(Object.keys(server.requests[0]?.headers ?? {})).not.toContain("authorization");
    expect(Object.keys(server.requests[0]?.headers ?? {})).not.toContain("cookie");
    expect(statSync(dirname(proxy.socket)).mode & 0o777).toBe(0o700);
  });

  it.each([
    ["another path", { path: "/v1/files" }],
    ["another method", { method: "GET", path: "/v1/messages" }],
    ["a path that only looks right", { path: "/v1/messages/../files" }],
    ["an address of its own", { path: "http://127.0.0.1:1/v1/messages" }],
    ["a host in the path", { path: "//127.0.0.1:1/v1/messages" }],
    ["an agent that was started inside", { headers: { "x-claude-code-session-id": "other" } }],
  ])("refuses %s", async (_, options) => {
    const server = await scripted([{ text: "hello" }]);
    expect((await call((await proxyTo(server.url)).socket, options)).status).toBe(403);
    expect(server.requests).toEqual([]);
  });

  it("refuses calls over the limit, and tells of failures with what the server said about them", async () => {
    const failures: ModelFailureNote[] = [];
    const server = await scripted([{ error: { status: 429, headers: { "retry-after": "7" } } }, { text: "ok" }]);
    const proxy = await proxyTo(server.url, { limits: { calls: 2, atOnce: 1 }, onFailure: (note) => void failures.push(note) });
    expect([(await call(proxy.socket)).status, (await call(proxy.socket)).status, (await call(proxy.socket)).status]).toEqual([429, 200, 403]);
    expect(failures).toMatchObject([{ status: 429, headers: { "retry-after": "7" } }]);
  });

  it("an answer that breaks off breaks off for the agent too; an address that is not there is told", async () => {
    const server = await scripted([{ text: "a long answer", fault: { kind: "cut", after_events: 4 } }]);
    expect(await call((await proxyTo(server.url)).socket)).toMatchObject({ status: 200, cut: true });
    const failures: number[] = [];
    const nowhere = await proxyTo("http://127.0.0.1:9", { onFailure: ({ status }) => void failures.push(status) });
    expect((await call(nowhere.socket)).status).toBe(502);
    expect(failures).toEqual([0]);
  });
});
