import * as http from "node:http";
import * as https from "node:https";
import { type Address, checkedAddresses, pinnedLookup, type Resolve } from "../lib/checked-addresses.ts";

export type HttpDeps = {
  resolve?: Resolve;
  isAllowed: (address: string) => boolean;
  signal: AbortSignal;
  maxBytes: number;
};

export type HttpReply = { ok: true; status: number; location: string | undefined; type: string; encoding: string; bytes: Buffer; cut: boolean } | { ok: false; reason: string };

/** One GET without redirects. The name is resolved once, every address is checked, and the connection goes to exactly those addresses. */
export async function httpGet(url: URL, deps: HttpDeps): Promise<HttpReply> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = await checkedAddresses(host, deps);
  return addresses.ok ? request(url, addresses.list, deps) : { ok: false, reason: addresses.reason };
}

function request(url: URL, addresses: Address[], deps: HttpDeps): Promise<HttpReply> {
  const send = url.protocol === "https:" ? https.request : http.request;
  return new Promise((resolve) => {
    const fail = (error: Error): void => resolve({ ok: false, reason: deps.signal.aborted ? "it took too long" : `the request failed (${(error as NodeJS.ErrnoException).code ?? error.message})` });
    const outgoing = send(
      url,
      { method: "GET", lookup: pinnedLookup(addresses), agent: false, signal: deps.signal, headers: { "user-agent": "crucible", accept: "text/*, application/json, */*;q=0.1", "accept-encoding": "identity" } },
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
