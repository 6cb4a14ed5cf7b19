import { createServer, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { parseHostTarget } from "../contract/host-entry.ts";
import { pinnedLookup } from "../lib/checked-addresses.ts";
import type { Admission, Admit } from "./admit-host.ts";
import { joinSockets } from "./join-sockets.ts";
import { listenPrivately, type PrivateSocket } from "./private-socket.ts";

const HEADER_BYTES = 16 << 10;
const HEADER_MS = 15_000;
const CONNECT_MS = 30_000;
const REFUSED_MS = 2000;
/** Of one agent at once, tunnels included. */
const MOST_CONNECTIONS = 128;

export type HostProxyLimits = { headerMs: number; connections: number };

/**
 * An HTTP proxy on a private unix socket: `CONNECT host:port`, and requests for `http://…`. Where to, `admit` decides; the connection goes
 * to exactly the addresses that it has checked.
 */
export function startHostProxy(admit: Admit, limits: HostProxyLimits = { headerMs: HEADER_MS, connections: MOST_CONNECTIONS }): Promise<PrivateSocket> {
  const server = createServer({
    maxHeaderSize: HEADER_BYTES, headersTimeout: limits.headerMs, connectionsCheckingInterval: Math.min(limits.headerMs, 5000), insecureHTTPParser: false,
  });
  server.maxConnections = limits.connections;
  server.on("connect", (message: IncomingMessage, client: Duplex, head: Buffer) => void tunnel(message, client, head, admit));
  server.on("request", (message, response) => void forward(message, response, admit));
  return listenPrivately(server);
}

async function tunnel(message: IncomingMessage, client: Duplex, head: Buffer, admit: Admit): Promise<void> {
  client.on("error", () => client.destroy());
  const target = parseHostTarget(message.url ?? "");
  const admission = target === undefined ? NO_TARGET : await admit(target);
  if (target === undefined || !admission.ok) return refuse(client, admission);
  if (client.destroyed) return;
  const upstream = connect({
    host: target.host, port: target.port, lookup: pinnedLookup(admission.list), autoSelectFamily: true, allowHalfOpen: true, noDelay: true, timeout: CONNECT_MS,
  });
  const fail = (): void => {
    upstream.destroy();
    refuse(client, UNREACHABLE);
  };
  const leave = (): void => void upstream.destroy();
  upstream.once("timeout", fail).once("error", fail);
  client.once("close", leave);
  upstream.once("connect", () => {
    upstream.setTimeout(0).removeListener("error", fail);
    client.removeListener("close", leave);
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (head.length > 0) upstream.write(head);
    joinSockets(client, upstream);
  });
}

/** The request is written anew from what was understood of it, so nothing can hide between two readings of its bytes. */
async function forward(message: IncomingMessage, response: ServerResponse, admit: Admit): Promise<void> {
  response.on("error", () => {});
  const url = absolute(message.url ?? "");
  const target = url === undefined ? undefined : parseHostTarget(url.host, 80);
  const admission = target === undefined ? NO_TARGET : await admit(target);
  if (url === undefined || target === undefined || !admission.ok) return say(response, admission);
  if (response.destroyed) return;
  const upstream = httpRequest({
    host: target.host, port: target.port, path: `${url.pathname}${url.search}`, method: message.method, headers: passedOn(message.headers, { host: url.host }),
    lookup: pinnedLookup(admission.list), agent: false, timeout: CONNECT_MS, setHost: false,
  });
  upstream.once("socket", (socket) => socket.once("connect", () => socket.setTimeout(0)));
  upstream.once("timeout", () => upstream.destroy(new Error("timeout")));
  upstream.on("response", (answer) => {
    response.writeHead(answer.statusCode ?? 502, passedOn(answer.headers, {}));
    answer.pipe(response);
    // An answer that breaks off must not look finished.
    answer.once("aborted", () => response.destroy());
  });
  upstream.on("error", () => (response.headersSent ? response.destroy() : say(response, UNREACHABLE)));
  response.once("close", () => upstream.destroy());
  message.pipe(upstream);
}

const NO_TARGET: Refused = { ok: false, status: 400, reason: "this is a proxy: CONNECT host:port, or a request for a whole http:// address" };
const UNREACHABLE: Refused = { ok: false, status: 502, reason: "the host cannot be reached" };
type Refused = Extract<Admission, { ok: false }>;

function absolute(text: string): URL | undefined {
  if (!/^http:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.username === "" && url.password === "" ? url : undefined;
}

/** Belong to one hop, or to the proxy. */
const DROPPED = new Set(["host", "connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate", "transfer-encoding", "upgrade", "te", "trailer", "expect"]);

function passedOn(headers: IncomingHttpHeaders, own: Record<string, string>): Record<string, string | string[]> {
  const named = new Set((headers.connection ?? "").toLowerCase().split(",").map((name) => name.trim()));
  const kept = Object.entries(headers).flatMap(([name, value]) => (value === undefined || DROPPED.has(name) || named.has(name) ? [] : [[name, value] as const]));
  return { ...Object.fromEntries(kept), ...own };
}

function refuse(client: Duplex, admission: Admission): void {
  const { status, reason } = admission.ok ? UNREACHABLE : admission;
  const body = `crucible: ${reason}\n`;
  if (client.destroyed) return;
  // Whoever does not hang up after a refusal is hung up on; what it still sends must not swallow the answer.
  client.resume().once("close", () => clearTimeout(timer));
  const timer = setTimeout(() => client.destroy(), REFUSED_MS);
  client.end(`HTTP/1.1 ${status} Refused\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`);
}

function say(response: ServerResponse, admission: Admission): void {
  const { status, reason } = admission.ok ? UNREACHABLE : admission;
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" });
  response.end(`crucible: ${reason}\n`);
}
