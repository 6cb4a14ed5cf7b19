import { lstatSync, type Stats } from "node:fs";

/** How a file looked when it was read, and the hash of what was read. */
export type Seen = [dev: number, ino: number, size: number, mtimeMs: number, ctimeMs: number, digest: string];

/** A change within the clock's tick of a read would look the same, so a file counts as known only when it was this much older than the read. */
const SETTLED_MS = 2000;

/**
 * The hash of a file that has not changed since it was read, without reading it; undefined when it must be read. Only the kernel sets the change
 * time, so an edit, a replacement, a rename and a time that was set back all show. Links, and times in the future, are always read.
 */
export function unchangedDigest(stat: Stats | undefined, seen: Seen | undefined): string | undefined {
  if (stat === undefined || seen === undefined) return undefined;
  const [dev, ino, size, mtimeMs, ctimeMs, digest] = seen;
  const same = stat.ino === ino && stat.ctimeMs === ctimeMs && stat.mtimeMs === mtimeMs && stat.size === size && stat.dev === dev;
  return same && stat.isFile() ? digest : undefined;
}

/** What may be remembered of a file that was looked at before it was read; undefined when it is too fresh. */
export function remember(before: Stats | undefined, after: Stats | undefined, digest: string, now: number): Seen | undefined {
  if (before === undefined || after === undefined || !before.isFile()) return undefined;
  const seen: Seen = [before.dev, before.ino, before.size, before.mtimeMs, before.ctimeMs, digest];
  const settled = before.ctimeMs < now - SETTLED_MS && before.mtimeMs < now - SETTLED_MS;
  return settled && unchangedDigest(after, seen) !== undefined ? seen : undefined;
}

export function look(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}
