import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { ScriptedRequest } from "./request.ts";
import type { ScriptedReply } from "./script.ts";
import type { Wire } from "./wire.ts";

/** Plays one reply, faults included. Resolves when there is nothing more to send; a hang stays open until the client or the server closes it. */
export async function sendReply(response: ServerResponse, wire: Wire, request: ScriptedRequest, reply: ScriptedReply): Promise<ScriptedRequest["outcome"]> {
  const closed = new AbortController();
  response.once("close", () => closed.abort());
  const { signal } = closed;
  await pause(reply.delay_ms, signal);
  if (signal.aborted) return "gone";
  if (reply.error !== undefined) {
    sendError(response, wire, request, reply.error);
    return "sent";
  }
  if (!request.stream) {
    if (reply.fault !== undefined) return misbehave(response, wire, reply.fault);
    sendJson(response, 200, wire.whole(request, reply), request);
    return "sent";
  }
  const { content, end } = wire.events(request, reply);
  const events = reply.fault === undefined ? [...content, ...end] : [...content, ...end].slice(0, reply.fault.after_events ?? content.length);
  const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache", "request-id": requestId(request) };
  if (events.length > 0 || (reply.fault !== undefined && !["cut", "hang"].includes(reply.fault.kind))) response.writeHead(200, headers).flushHeaders();
  for (const event of events) {
    await pause(reply.chunk_ms, signal);
    if (signal.aborted) return "gone";
    if (!response.write(event)) await once(response, "drain", { signal }).catch(() => {});
  }
  if (reply.fault !== undefined) return misbehave(response, wire, reply.fault);
  response.end();
  return "sent";
}

export function sendJson(response: ServerResponse, status: number, body: unknown, request: ScriptedRequest | undefined, headers: Record<string, string> = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...(request === undefined ? {} : { "request-id": requestId(request) }), ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

function sendError(response: ServerResponse, wire: Wire, request: ScriptedRequest, error: NonNullable<ScriptedReply["error"]>): void {
  const body = error.body ?? wire.error(error.type ?? typeOf(error.status), error.message ?? `scripted error ${error.status}`);
  sendJson(response, error.status, body, request, { ...(error.body === undefined ? {} : { "content-type": "text/plain" }), ...error.headers });
}

async function misbehave(response: ServerResponse, wire: Wire, fault: NonNullable<ScriptedReply["fault"]>): Promise<ScriptedRequest["outcome"]> {
  if (fault.kind === "hang") {
    if (!response.destroyed) await new Promise<void>((closed) => void response.once("close", closed));
    return "gone";
  }
  if (fault.kind === "error") response.write(wire.errorEvent(fault.type ?? "overloaded_error", fault.message ?? "Overloaded"));
  if (fault.kind === "garbage") response.write("event: content_block_delta\ndata: {not json\n\n");
  if (fault.kind === "cut") {
    // What was written must leave before the socket dies, else the client sees a shorter stream than the script says.
    await new Promise<void>((flushed) => (response.headersSent ? response.write(": cut\n\n", () => flushed()) : flushed()));
    response.destroy();
  } else response.end();
  return "fault";
}

/** Ends early when the client goes away. */
async function pause(ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (ms !== undefined && ms > 0) await delay(ms, undefined, { signal }).catch(() => {});
}

function requestId(request: ScriptedRequest): string {
  return `req_scripted_${request.index}`;
}

function typeOf(status: number): string {
  const known: Record<number, string> = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
    529: "overloaded_error",
  };
  return known[status] ?? "api_error";
}
