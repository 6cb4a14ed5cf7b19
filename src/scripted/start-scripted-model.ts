import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { anthropicWire } from "./anthropic-wire.ts";
import { replyChooser } from "./choose-reply.ts";
import { openaiWire } from "./openai-wire.ts";
import { readRequest, type ScriptedRequest } from "./request.ts";
import type { Script } from "./script.ts";
import { sendJson, sendReply } from "./send-reply.ts";
import { roughTokens } from "./wire.ts";

export type ScriptedModel = {
  /** Root for ANTHROPIC_BASE_URL; `${url}/v1` for OPENAI_BASE_URL. */
  url: string;
  /** Every model call, in order of arrival. */
  requests: ScriptedRequest[];
  /** Resolves when that many model calls have arrived. */
  arrived(count: number): Promise<void>;
  /** Ends at once, hanging calls too. */
  close(): Promise<void>;
};

/** A model on loopback that says what the script says, over the Anthropic Messages and the chat-completions wire. */
export async function startScriptedModel(input: { script: Script }): Promise<ScriptedModel> {
  const requests: ScriptedRequest[] = [];
  const waiting: { count: number; go: () => void }[] = [];
  const choose = replyChooser(input.script);

  const call = async (path: string, message: IncomingMessage, response: ServerResponse, body: Record<string, unknown>): Promise<void> => {
    const request = readRequest(requests.length, path, message.headers, body);
    requests.push(request);
    for (const waiter of waiting) if (waiter.count <= requests.length) waiter.go();
    const wire = request.wire === "openai" ? openaiWire : anthropicWire;
    const chosen = await choose(request);
    if ("unmatched" in chosen) {
      request.outcome = "unmatched";
      sendJson(response, 400, wire.error("invalid_request_error", `scripted model: ${chosen.unmatched}`), request);
      return;
    }
    request.rule = chosen.rule;
    request.outcome = await sendReply(response, wire, request, chosen.reply);
  };

  const server = createServer((message, response) => {
    response.on("error", () => {});
    void answer(message, response, call).catch((error: unknown) => {
      // A reply function that fails, or gives something that is no reply, is a fault of the script: the client is told.
      if (!response.headersSent) sendJson(response, 400, anthropicWire.error("invalid_request_error", `scripted model: ${String(error)}`), undefined);
      else response.destroy();
    });
  });
  await new Promise<void>((listening, fail) => void server.once("error", fail).listen(0, "127.0.0.1", listening));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    arrived: (count) => (requests.length >= count ? Promise.resolve() : new Promise((go) => void waiting.push({ count, go }))),
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  message: IncomingMessage,
  response: ServerResponse,
  call: (path: string, message: IncomingMessage, response: ServerResponse, body: Record<string, unknown>) => Promise<void>,
): Promise<void> {
  const { pathname } = new URL(message.url ?? "/", "http://localhost");
  const path = pathname.replace(/\/+$/, "");
  const text = await bodyOf(message);
  if (message.method === "POST" && (path === "/v1/messages" || path === "/v1/chat/completions")) {
    const body = parse(text);
    if (body === undefined) return sendJson(response, 400, anthropicWire.error("invalid_request_error", "scripted model: the body is not a JSON object"), undefined);
    return call(path, message, response, body);
  }
  if (message.method === "POST" && path === "/v1/messages/count_tokens") return sendJson(response, 200, { input_tokens: roughTokens(text) }, undefined);
  if (message.method === "GET" && path === "/v1/models") return sendJson(response, 200, { data: [], has_more: false, object: "list" }, undefined);
  // Agent CLIs look whether the address answers before they call.
  if (path === "") return sendJson(response, 200, {}, undefined);
  return sendJson(response, 404, anthropicWire.error("not_found_error", `scripted model: nothing at ${message.method} ${path}`), undefined);
}

async function bodyOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
