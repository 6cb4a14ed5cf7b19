import { walkFiles } from "../../lib/walk-files.ts";

const MOST_FILES = 50_000;
const MOST_SHOWN = 50;
const FRESH_MS = 10_000;

/** Paths for `@`. Read in the background when they are first wanted, and again when they may be old. */
export type ProjectFiles = { like(part: string): string[] };

export function projectFiles(root: string, deps: { now(): number; loaded(): void }): ProjectFiles {
  let known: string[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  let reading = false;

  const read = async (): Promise<void> => {
    const found: string[] = [];
    for (const path of walkFiles(root)) {
      if (found.push(path) >= MOST_FILES) break;
      // Typing goes on meanwhile.
      if (found.length % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    known = found;
    readAt = deps.now();
    reading = false;
    deps.loaded();
  };

  return {
    like(part) {
      if (!reading && deps.now() - readAt > FRESH_MS) {
        reading = true;
        setImmediate(() => void read());
      }
      return bestOf(known, part);
    },
  };
}

/** Names that begin with it first, then names that hold it, then paths; the shorter one first. */
export function bestOf(paths: readonly string[], part: string): string[] {
  const wanted = part.toLowerCase();
  const ranked = paths.flatMap((path) => {
    const low = path.toLowerCase();
    const name = low.slice(low.lastIndexOf("/") + 1);
    const rank = low.startsWith(wanted) || name.startsWith(wanted) ? 0 : name.includes(wanted) ? 1 : low.includes(wanted) ? 2 : 3;
    return rank === 3 ? [] : [{ path, rank }];
  });
  return ranked.sort((a, b) => a.rank - b.rank || a.path.length - b.path.length || (a.path < b.path ? -1 : 1)).slice(0, MOST_SHOWN).map((r) => r.path);
}
