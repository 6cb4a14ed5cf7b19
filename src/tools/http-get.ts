import { lookup } from "node:dns/promises";
import * as http from "node:http";
import * as https from "node:https";
import { isIP, type LookupFunction } from "node:net";

export type Address = { address: string; family: number };

export type HttpDeps = {
  resolve?: (host: string) => Promise<Address[]>;
  isAllowed: (address: string) => boolean;
  signal: AbortSignal;
  maxBytes: number;
};

export type HttpReply = { ok: true; status: number; location: string | undefined; type: string; encoding: string; bytes: Buffer; cut: boolean } | { ok: false; reason: string };

/** One GET without redirects. The name is resolved once, every address is checked, and the connection goes to exactly those addresses. */
export async function httpGet(url: URL, deps: HttpDeps): Promise<HttpReply> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = await resolveHost(host, deps);
  if (!addresses.ok) return addresses;
  const refused = addresses.list.find(({ address }) => !deps.isAllowed(address));
  if (refused !== undefined) return { ok: false, reason: `${host} is ${isIP(host) === 0 ? `at ${refused.address}, ` : ""}an address of this machine or of a private network` };
  return request(url, addresses.list, deps);
}

async function resolveHost(host: string, deps: HttpDeps): Promise<{ ok: true; list: Address[] } | { ok: false; reason: string }> {
  const family = isIP(host);
  if (family !== 0) return { ok: true, list: [{ address: host, family }] };
  try {
    const list = await (deps.resolve ?? ((name) => lookup(name, { all: true })))(host);
    return list.length === 0 ? { ok: false, reason: `${host} has no address` } : { ok: true, list };
  } catch (error) {
    return { ok: false, reason: `${host} could not be resolved (${(error as NodeJS.ErrnoException).code ?? "error"})` };
  }
}

function request(url: URL, addresses: Address[], deps: HttpDeps): Promise<HttpReply> {
  const pinned: LookupFunction = (_host, options, callback) => {
    if (options.all === true) callback(null, addresses);
    else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
  };
  const send = url.protocol === "https:" ? https.request : http.request;
  return new Promise((resolve) => {
    const fail = (error: Error): void => resolve({ ok: false, reason: deps.signal.aborted ? "it took too long" : `the request failed (${(error as NodeJS.ErrnoException).code ?? error.message})` });
    const outgoing = send(
      url,
      { method: "GET", lookup: pinned, agent: false, signal: deps.signal, headers: { "user-agent": "crucible", accept: "text/*, application/json, */*;q=0.1", "accept-encoding": "identity" } },
      (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        const finish = (cut: boolean): void =>
          resolve({
            ok: true, status: response.statusCode ?? 0, location: response.headers.location, type: response.headers["content-type"] ?? "",
            encoding: response.headers["content-encoding"] ?? "", bytes: Buffer.concat(chunks).subarray(0, deps.maxBytes), cut,
          });
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk);
          size += chunk.length;
          if (size <= deps.maxBytes) return;
          finish(true);
          response.destroy();
        });
        response.on("end", () => finish(false));
        response.on("error", fail);
      },
    );
    outgoing.on("error", fail);
    outgoing.end();
  });
}
