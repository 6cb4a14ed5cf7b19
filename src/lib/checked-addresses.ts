import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";

export type Address = { address: string; family: number };
export type Resolve = (host: string) => Promise<Address[]>;
export type CheckedAddresses = { ok: true; list: Address[] } | { ok: false; why: "unresolved" | "refused"; reason: string; address?: string };

/** Resolves a host once and checks every address that it has: one that is not allowed refuses the host. */
export async function checkedAddresses(host: string, deps: { resolve?: Resolve; isAllowed: (address: string) => boolean }): Promise<CheckedAddresses> {
  const family = isIP(host);
  const list = family !== 0 ? [{ address: host, family }] : await (deps.resolve ?? resolveAll)(host).catch((error: NodeJS.ErrnoException) => error);
  if (!Array.isArray(list)) return { ok: false, why: "unresolved", reason: `${host} could not be resolved (${list.code ?? "error"})` };
  if (list.length === 0) return { ok: false, why: "unresolved", reason: `${host} has no address` };
  const refused = list.find(({ address }) => !deps.isAllowed(address))?.address;
  if (refused === undefined) return { ok: true, list };
  return { ok: false, why: "refused", reason: `${host} is ${family === 0 ? `at ${refused}, ` : ""}an address of this machine or of a private network`, address: refused };
}

/** Connects to exactly the addresses that were checked; the name is not resolved again. */
export function pinnedLookup(addresses: readonly Address[]): LookupFunction {
  return (_host, options, callback) => {
    if (options.all === true) callback(null, [...addresses]);
    else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
  };
}

function resolveAll(host: string): Promise<Address[]> {
  return lookup(host, { all: true });
}
