import { isIP, isIPv4, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";

/** An entry of `sandbox.hosts`, read: which host on which ports. */
export type HostRule = {
  kind: "name" | "below" | "address" | "loopback";
  /** Lower case, without brackets. For `below` the domain that the name must end in. */
  host: string;
  ports: readonly number[];
};

export type HostEntry = { ok: true; rule: HostRule } | { ok: false; message: string };
export type HostTarget = { host: string; port: number };

const WEB_PORTS = [443, 80];
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
/** A program without rights cannot listen below, and that is what the sandbox's own loopback needs. */
const LEAST_LOOPBACK_PORT = 1024;

/** `host`, `host:port`, `*.domain`, an address (IPv6 in brackets), or `localhost:port`. */
export function parseHostEntry(text: string): HostEntry {
  const no = (message: string): HostEntry => ({ ok: false, message: `'${text.length > 80 ? `${text.slice(0, 80)}…` : text}' ${message}` });
  if (/[/@?#\\\s]/.test(text)) return no("is no host; write the host alone, such as api.example.com or host:8443");
  const isBelow = text.startsWith("*.");
  const split = splitPort(isBelow ? text.slice(2) : text);
  if (split === undefined) return no("is no host; a port is a number from 1 to 65535, and an IPv6 address stands in brackets");
  if (split.host.includes("*")) return no("opens too much or stands in the wrong place; `*` is only understood as `*.domain`");
  const host = plainHost(split.host);
  if (host === undefined) return no("is no host name and no address");
  const ports = split.port === undefined ? WEB_PORTS : [split.port];
  if (isLoopbackName(host)) {
    if (isBelow || split.port === undefined) return no("is this machine; say which port: localhost:5432");
    if (split.port < LEAST_LOOPBACK_PORT) return no(`is a port of this machine that a sandbox cannot have; only ${LEAST_LOOPBACK_PORT} and above`);
    return { ok: true, rule: { kind: "loopback", host: "localhost", ports } };
  }
  if (host.endsWith(".localhost")) return no("is this machine; write localhost:port");
  if (isIP(host) === 0) {
    if (isBelow && !host.includes(".")) return no("opens a whole top-level domain");
    return { ok: true, rule: { kind: isBelow ? "below" : "name", host, ports } };
  }
  if (isBelow) return no("is no domain");
  return /^0\.|^::$/.test(host) ? no("is no address of a host") : { ok: true, rule: { kind: "address", host, ports } };
}

/** Where a program wants to go, `host:port`; undefined when it is not exactly that. */
export function parseHostTarget(text: string, defaultPort?: number): HostTarget | undefined {
  const split = splitPort(text);
  const host = split === undefined ? undefined : plainHost(split.host);
  const port = split?.port ?? defaultPort;
  return host === undefined || port === undefined ? undefined : { host, port };
}

export function ruleAllows(rule: HostRule, { host, port }: HostTarget): boolean {
  if (!rule.ports.includes(port)) return false;
  if (rule.kind === "below") return isIP(host) === 0 && host.endsWith(`.${rule.host}`);
  return rule.kind === "loopback" ? isLoopbackName(host) : host === rule.host;
}

/** As a person would write it in `sandbox.hosts`. */
export function hostText({ host, port }: HostTarget): string {
  const shown = isIPv6(host) ? `[${host}]` : host;
  return WEB_PORTS.includes(port) && !isLoopbackName(host) ? shown : `${shown}:${port}`;
}

function isLoopbackName(host: string): boolean {
  return host === "localhost" || host === "127.0.0.1" || host === "::1";
}

function splitPort(text: string): { host: string; port: number | undefined } | undefined {
  const match = /^(\[[^[\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text);
  if (match?.[1] === undefined) return undefined;
  const port = match[2] === undefined ? undefined : Number(match[2]);
  return port !== undefined && (port < 1 || port > 65_535) ? undefined : { host: match[1], port };
}

/** One spelling for each host, so that comparing text is comparing hosts. What looks like a number in disguise is no host. */
function plainHost(text: string): string | undefined {
  if (text.startsWith("[")) {
    const address = text.slice(1, -1);
    return isIPv6(address) && !address.includes("%") ? new URL(`http://[${address}]`).hostname.slice(1, -1) : undefined;
  }
  // oxlint-disable-next-line no-control-regex
  const ascii = /[^\x00-\x7f]/.test(text) ? domainToASCII(text) : text.toLowerCase();
  const name = ascii.endsWith(".") ? ascii.slice(0, -1) : ascii;
  if (isIPv4(name)) return name;
  const labels = name.split(".");
  const isName = name.length <= 253 && labels.every((label) => LABEL.test(label)) && !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? "");
  return isName ? name : undefined;
}
