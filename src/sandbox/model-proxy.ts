import { createServer, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { listenPrivately, type PrivateSocket } from "./private-socket.ts";

export type ModelProxyInput = {
  /** Root of the model's address, without `/v1`. */
  endpoint: string;
  /** Headers that log in; asked for at each call, so that a login that is renewed meanwhile counts. */
  credentials(): Record<string, string>;
  /** The agent's own session, once it is known: a second agent that is started inside calls under another and is refused. */
  session: string | (() => string | undefined);
  /** What is forwarded, as `METHOD /path`; the calls of Anthropic's wire by default. */
  forwarded?: readonly string[];
  /** Calls that one agent may make in all, and at once. */
  limits?: { calls: number; atOnce: number };
  /** Hears of every answer that is no success, and of an address that cannot be reached (status 0). */
  onFailure?(failure: ModelFailureNote): void;
};

export type ModelFailureNote = { status: number; headers: Record<string, string>; /** What to do about a refused login, where it is not the usual one. */ hint?: string };
export type ModelProxy = PrivateSocket & { calls(): number };

const SESSION_HEADER = "x-claude-code-session-id";
const ANTHROPIC = ["POST /v1/messages", "POST /v1/messages/count_tokens"];
const LIMITS = { calls: 5000, atOnce: 16 };
const LARGEST_BODY = 64 << 20;
/** Not passed on: who the agent says it is, and what belongs to one hop. */
const DROPPED = new Set(["host", "connection", "keep-alive", "transfer-encoding", "upgrade", "te", "trailer", "expect", "cookie", "x-api-key", "authorization"]);

/**
 * The only way out of an agent's sandbox: a unix socket in a private folder that forwards model calls to the one endpoint and adds the
 * key, so that the agent never holds it.
 */
export async function startModelProxy(input: ModelProxyInput): Promise<ModelProxy> {
  const limits = input.limits ?? LIMITS;
  let calls = 0;
  let open = 0;

  const server = createServer((message, response) => {
    response.on("error", () => {});
    const refusal = refuse(message, input);
    if (refusal !== undefined) return say(response, refusal.status, refusal.reason);
    if (calls >= limits.calls || open >= limits.atOnce) return say(response, 403, "this agent has made too many model calls");
    calls++;
    open++;
    response.once("close", () => open--);
    forward(message, response, input);
  });
  server.requestTimeout = 0;
  return { ...(await listenPrivately(server)), calls: () => calls };
}

function refuse(message: IncomingMessage, input: ModelProxyInput): { status: number; reason: string } | undefined {
  const path = pathOf(message, input);
  // Programs look whether the address answers before they call.
  if ((message.method === "GET" || message.method === "HEAD") && path === "/") return { status: 200, reason: "" };
  if (!(input.forwarded ?? ANTHROPIC).includes(`${message.method} ${path}`)) return { status: 403, reason: "only model calls leave this sandbox" };
  const caller = message.headers[SESSION_HEADER];
  const session = typeof input.session === "string" ? input.session : input.session();
  if (caller !== undefined && session !== undefined && caller !== session) return { status: 403, reason: "Maximum agent depth exceeded: an agent does not start agents by itself" };
  if (Number(message.headers["content-length"] ?? 0) > LARGEST_BODY) return { status: 413, reason: "the request is too large" };
  return undefined;
}

function forward(message: IncomingMessage, response: ServerResponse, input: ModelProxyInput): void {
  // Of the agent's words only path and query are taken, never a host: the key goes to the endpoint and nowhere else.
  const target = new URL(input.endpoint);
  target.pathname = `${target.pathname.replace(/\/+$/, "")}${pathOf(message, input)}`;
  target.search = asked(message).search;
  const send = target.protocol === "https:" ? httpsRequest : httpRequest;
  const headers = { ...passedOn(message.headers), ...input.credentials() };
  const upstream = send(target, { method: message.method, headers });
  upstream.on("response", (answer) => {
    const status = answer.statusCode ?? 502;
    if (status >= 400) input.onFailure?.({ status, headers: flat(answer.headers) });
    response.writeHead(status, passedOn(answer.headers));
    response.flushHeaders();
    answer.pipe(response);
    // A stream that breaks off must break off for the agent too, not look finished.
    answer.once("error", () => response.destroy());
    answer.once("aborted", () => response.destroy());
  });
  upstream.on("error", () => {
    input.onFailure?.({ status: 0, headers: {} });
    if (response.headersSent) response.destroy();
    else say(response, 502, "the model's address cannot be reached");
  });
  response.once("close", () => upstream.destroy());
  let bytes = 0;
  message.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LARGEST_BODY) message.destroy();
  });
  message.pipe(upstream);
}

/** Some programs take the address to hold the version already. */
function pathOf(message: IncomingMessage, input: ModelProxyInput): string {
  const path = asked(message).pathname;
  return input.forwarded === undefined && path.startsWith("/messages") ? `/v1${path}` : path;
}

function asked(message: IncomingMessage): URL {
  const url = message.url ?? "/";
  return new URL(/^\/(?!\/)/.test(url) ? url : "/not-a-path", "http://model.invalid");
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(flat(headers)).filter(([name]) => !DROPPED.has(name)));
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]])));
}

function say(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(status === 200 ? {} : { type: "error", error: { type: "permission_error", message: reason } }));
}
