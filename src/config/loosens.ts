import { isDeepStrictEqual } from "node:util";
import { durationMs } from "../contract/duration.ts";
import type { SettingsFile } from "../contract/settings.ts";
import { SANDBOX_MODES } from "../contract/settings.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import { entriesOf, isMapping } from "./layer.ts";

/** Sections that decide what runs, what is allowed and who is asked: a project's file may only tighten them. */
export const GUARDED_SECTIONS = ["claude", "acp", "permissions", "approvals", "notify", "sandbox", "notes"] as const;

export type Loosening = { path: string[]; message: string };

/** What a project's file would loosen of the user's own settings (built-in where the user says nothing). */
export function loosenings(project: SettingsFile, own: Settings): Loosening[] {
  const found: Loosening[] = [];
  for (const [path, value] of entriesOf(project)) {
    const [section = ""] = path;
    if (section === "mcp") found.push(...serverLoosening(path, value, own));
    if (!(GUARDED_SECTIONS as readonly string[]).includes(section)) continue;
    const message = loosening(path.join("."), value, own);
    if (message !== undefined) found.push({ path, message });
  }
  return found;
}

function loosening(key: string, value: unknown, own: Settings): string | undefined {
  switch (key) {
    case "claude.command":
      return differs(value, own.claude.command, "a project cannot choose the program that runs");
    case "claude.args":
      return differs(value, own.claude.args, "a project cannot choose the arguments of the program that runs");
    case "acp.command":
      return differs(value, own.acp.command, "a project cannot choose the program that runs");
    case "permissions.allow":
      return more(value, own.permissions.allow, (extra) => `a project cannot allow ${extra} without asking`);
    case "permissions.deny":
      return undefined;
    case "approvals.timeout":
      return milliseconds(value) > milliseconds(own.approvals.timeout) ? `a project cannot wait longer than ${own.approvals.timeout}` : undefined;
    case "approvals.on_timeout":
      return value === "approve" && own.approvals.on_timeout !== "approve" ? "a project cannot let silence approve" : undefined;
    case "notify":
      return more((value as Settings["notify"]).filter((n) => n.type === "command"), own.notify, () => "a project cannot add a command to run");
    case "sandbox.mode":
      return rank(value) > rank(own.sandbox.mode) ? `a project cannot weaken the sandbox from '${own.sandbox.mode}' to '${String(value)}'` : undefined;
    case "sandbox.hosts":
      return more(value, own.sandbox.hosts, (extra) => `a project cannot open the network to ${extra}`);
    case "notes.embeddings_url":
      return differs(value, own.notes.embeddings_url, "a project cannot choose where its notes are sent");
    case "notes.embeddings_model":
      return differs(value, own.notes.embeddings_model, "a project cannot choose where its notes are sent");
    default:
      // A guarded key that nobody has thought about is refused rather than let through.
      return "a project cannot set this";
  }
}

/** A project may bring servers, which run in a sandbox; the network of that sandbox is the user's to open. */
function serverLoosening(path: string[], value: unknown, own: Settings): Loosening[] {
  const [, map, name = ""] = path;
  if (map !== "servers" || !isMapping(value) || isDeepStrictEqual(value, own.mcp.servers[name])) return [];
  const message = more(value.hosts ?? [], own.sandbox.hosts, (extra) => `a project cannot open the network to ${extra}`);
  return message === undefined ? [] : [{ path, message }];
}

function differs(value: unknown, own: unknown, message: string): string | undefined {
  return isDeepStrictEqual(value, own) ? undefined : message;
}

function more(value: unknown, own: readonly unknown[], message: (extra: string) => string): string | undefined {
  const extra = (value as unknown[]).filter((item) => !own.some((mine) => isDeepStrictEqual(mine, item)));
  return extra.length === 0 ? undefined : message(extra.map(String).join(", "));
}

function milliseconds(value: unknown): number {
  return durationMs(value as string | number) ?? Number.POSITIVE_INFINITY;
}

function rank(mode: unknown): number {
  return (SANDBOX_MODES as readonly unknown[]).indexOf(mode);
}
