import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import type { Problem } from "../contract/problem.ts";
import { nearest } from "../lib/nearest.ts";
import { readSession, type ReadSession } from "./read-session.ts";

export const NEWEST = 50;

export type ListDeps = { read: typeof readSession };

/** The newest sessions first. Of 10,000 only those that are shown are read. */
export async function listSessions(
  paths: Paths,
  options: { limit?: number } = {},
  deps: ListDeps = { read: readSession },
): Promise<{ sessions: ReadSession[]; problems: Problem[]; more: number }> {
  const limit = options.limit ?? NEWEST;
  const root = paths.project.sessions;
  const newest = newestNames(root, sessionNames(root), limit);
  const sessions: ReadSession[] = [];
  const problems: Problem[] = [];
  for (const name of newest.names) {
    const one = await deps.read(join(root, name));
    if (one.session !== undefined) sessions.push(one.session);
    problems.push(...one.problems);
  }
  sessions.sort((a, b) => order(b.metadata.started_at, a.metadata.started_at) || order(b.id, a.id));
  return { sessions, problems, more: newest.more };
}

/** A session by its id or the start of it. */
export function findSession(paths: Paths, idOrPrefix: string): string {
  const names = sessionNames(paths.project.sessions);
  if (names.includes(idOrPrefix)) return idOrPrefix;
  const matching = idOrPrefix === "" ? [] : names.filter((name) => name.startsWith(idOrPrefix));
  if (matching.length === 1 && matching[0] !== undefined) return matching[0];
  if (matching.length > 1) {
    const some = matching.slice(0, 5).join(", ");
    throw new CruError("usage", `'${idOrPrefix}' is the start of ${matching.length} sessions`, { hint: `one of: ${some}${matching.length > 5 ? ", …" : ""}` });
  }
  const near = nearest(idOrPrefix, names.slice(-1000));
  throw new CruError("not_found", `there is no session '${idOrPrefix}'`, { hint: near === undefined ? "see `cru sessions list`" : `did you mean '${near}'?` });
}

/** Folders that begin with a date; a symlink is none. Sorted. */
function sessionNames(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && /^\d{4}-\d{2}-\d{2}-/.test(entry.name))
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Names sort by day. Within the day that only partly fits, the folders made last are taken. */
function newestNames(root: string, names: readonly string[], limit: number): { names: string[]; more: number } {
  const taken = names.slice(Math.max(0, names.length - limit));
  const [first] = taken;
  if (first === undefined || taken.length === names.length) return { names: taken, more: 0 };
  const day = first.slice(0, 10);
  const sameDay = names.filter((name) => name.startsWith(day)).map((name) => ({ name, made: madeAt(join(root, name)) }));
  sameDay.sort((a, b) => b.made - a.made || order(b.name, a.name));
  const whole = taken.filter((name) => !name.startsWith(day));
  return { names: [...whole, ...sameDay.slice(0, limit - whole.length).map((one) => one.name)], more: names.length - taken.length };
}

function madeAt(folder: string): number {
  const stat = statSync(folder, { throwIfNoEntry: false });
  return stat === undefined ? 0 : stat.birthtimeMs || stat.ctimeMs;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
