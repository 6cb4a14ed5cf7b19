import { readFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { CruError } from "../contract/error.ts";
import { pinnedLookup } from "../lib/checked-addresses.ts";
import { admitHosts, LOOPBACK, rulesOf } from "./admit-host.ts";
import { startHostProxy } from "./host-proxy.ts";
import { joinSockets } from "./join-sockets.ts";
import { listenPrivately, type PrivateSocket } from "./private-socket.ts";
import type { Bind, Relay, SandboxNetwork } from "./spec.ts";

/** The outside half of a sandbox's network, and what the inside needs to find it. */
export type OpenNetwork = { relays: Relay[]; env: Record<string, string>; binds: Bind[]; close(): Promise<void> };

const PROXY_PORT = 3128;
const MOST_CONNECTIONS = 128;
const MOST_CERTIFICATE_BYTES = 4 << 20;

/**
 * Opens exactly the hosts that are named, and nothing when none is: a proxy for all of them, and for a port of this machine the same port
 * inside. Throws, with nothing left open, when it cannot.
 */
export async function openNetwork(network: SandboxNetwork, user: Record<string, string | undefined>): Promise<OpenNetwork | undefined> {
  const { hosts, intranet = [] } = network;
  const rules = rulesOf([...hosts, ...intranet]);
  if (rules.length === 0) return undefined;
  const ports = [...new Set(rules.filter(({ kind }) => kind === "loopback").flatMap((rule) => rule.ports))].filter((port) => port !== PROXY_PORT);
  const opened: PrivateSocket[] = [];
  const close = async (): Promise<void> => void (await Promise.all(opened.map((one) => one.close())));
  const keep = (one: PrivateSocket, port: number): Relay => {
    opened.push(one);
    return { port, socket: one.socket };
  };
  try {
    const relays = [keep(await startHostProxy(admitHosts({ ...network, intranet })), PROXY_PORT)];
    for (const port of ports) relays.push(keep(await startBridge(port), port));
    const certificates = certificateFiles(user);
    return { relays, env: { ...PROXY_ENVIRONMENT, ...certificates }, binds: [...new Set(Object.values(certificates))].map((from) => ({ from })), close };
  } catch (error) {
    await close();
    throw new CruError("failed", `the sandbox's network could not be opened: ${(error as Error).message}`, { cause: error });
  }
}

/** Raw bytes to a port of this machine. */
function startBridge(port: number): Promise<PrivateSocket> {
  const server = createServer({ allowHalfOpen: true }, (inside) => {
    joinSockets(inside, connect({ host: "localhost", port, lookup: pinnedLookup(LOOPBACK), autoSelectFamily: true, allowHalfOpen: true, noDelay: true }));
  });
  server.maxConnections = MOST_CONNECTIONS;
  return listenPrivately(server);
}

const PROXY = `http://127.0.0.1:${PROXY_PORT}`;
/** The sandbox's own loopback, where tests have their servers; and the name under which an agent's model is asked over its own socket. */
const DIRECT = "localhost,127.0.0.1,::1,model.invalid";
const PROXY_ENVIRONMENT: Record<string, string> = {
  HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY, http_proxy: PROXY, https_proxy: PROXY, NO_PROXY: DIRECT, no_proxy: DIRECT,
  // Node and Yarn look at the others only when they are told to.
  NODE_USE_ENV_PROXY: "1", YARN_HTTP_PROXY: PROXY, YARN_HTTPS_PROXY: PROXY,
};

const CERTIFICATE_VARIABLES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "PIP_CERT", "CARGO_HTTP_CAINFO"];

/** Certificates that the user's own programs are told to believe; never a file that holds a key. */
function certificateFiles(user: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(CERTIFICATE_VARIABLES.flatMap((name) => {
    const path = user[name];
    return path !== undefined && path.startsWith("/") && holdsOnlyCertificates(path) ? [[name, path]] : [];
  }));
}

function holdsOnlyCertificates(path: string): boolean {
  try {
    const bytes = readFileSync(path);
    return bytes.length <= MOST_CERTIFICATE_BYTES && bytes.includes("BEGIN CERTIFICATE") && !bytes.includes("PRIVATE KEY");
  } catch {
    return false;
  }
}
