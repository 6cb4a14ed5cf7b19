import { type HostRule, type HostTarget, hostText, parseHostEntry, ruleAllows } from "../contract/host-entry.ts";
import { type Address, checkedAddresses, type Resolve } from "../lib/checked-addresses.ts";
import { isPublicAddress } from "../lib/public-address.ts";

export type Admission = { ok: true; list: Address[] } | { ok: false; status: number; reason: string };
export type Admit = (target: HostTarget) => Promise<Admission>;

/** A host that was asked for and is not open. `address`: it is, but lies there, in a private network. */
export type Refusal = { host: string; address?: string };

export type AdmitInput = {
  hosts: readonly string[];
  /** Entries whose names may lead into a private network. */
  intranet: readonly string[];
  /** Hears of each host once. */
  onRefused?(refusal: Refusal): void;
  resolve?: Resolve;
};

const MOST_TOLD = 50;
export const LOOPBACK: Address[] = [{ address: "127.0.0.1", family: 4 }, { address: "::1", family: 6 }];

/** Decides where a sandbox may connect to: the host must be listed, and every address it has must be public or listed itself. */
export function admitHosts(input: AdmitInput): Admit {
  const [open, intranet] = [rulesOf([...input.hosts, ...input.intranet]), rulesOf(input.intranet)];
  const told = new Set<string>();
  const refused = (target: HostTarget, reason: string, address?: string): Admission => {
    const host = hostText(target);
    if (!told.has(host) && told.size < MOST_TOLD) {
      told.add(host);
      input.onRefused?.({ host, ...(address === undefined ? {} : { address: hostText({ host: address, port: target.port }) }) });
    }
    return { ok: false, status: 403, reason };
  };
  return async (target) => {
    const rule = open.find((candidate) => ruleAllows(candidate, target));
    if (rule === undefined) return refused(target, `${hostText(target)} is not open in this sandbox; open are: ${[...input.hosts, ...input.intranet].join(", ")}`);
    if (rule.kind === "loopback") return { ok: true, list: LOOPBACK };
    const isIntranet = intranet.some((candidate) => ruleAllows(candidate, target));
    const isListed = (address: string): boolean => open.some((candidate) => candidate.kind !== "below" && ruleAllows(candidate, { host: address, port: target.port }));
    const found = await checkedAddresses(target.host, {
      isAllowed: (address) => isIntranet || isPublicAddress(address) || isListed(address),
      ...(input.resolve === undefined ? {} : { resolve: input.resolve }),
    });
    if (found.ok) return found;
    return found.why === "refused" ? refused(target, found.reason, found.address) : { ok: false, status: 502, reason: found.reason };
  };
}

/** The words for the user, with the command that opens the host where it can be opened. */
export function refusalText({ host, address }: Refusal, who: string, hosts: readonly string[]): string {
  const told = `${who} tried to reach ${host}, which ${address === undefined ? "is not open" : `is at ${address}, in a private network`}`;
  const wanted = address ?? host;
  if (!parseHostEntry(wanted).ok) return told;
  const list = [...hosts, wanted].join(",");
  return `${told}; if it should: cru config set sandbox.hosts ${/[*[]/.test(list) ? `'${list}'` : list}`;
}

export function rulesOf(entries: readonly string[]): HostRule[] {
  return entries.flatMap((text) => {
    const entry = parseHostEntry(text);
    return entry.ok ? [entry.rule] : [];
  });
}
