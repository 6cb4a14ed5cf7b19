import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";

export type NoteFile = { seen: string; modifiedMs: number; text: string; bytes: Buffer };

/** Longer notes are read up to here. */
const MOST_BYTES = 1 << 20;

export type NoteReader = {
  /** Whether the folder of a note is where its path says; a link in between could lead out of the project. */
  isPlain(path: string): boolean;
  /** Undefined for what is gone, a link, no regular file, or binary. `bytes` is good until the next call. */
  read(path: string): NoteFile | undefined;
};

/** Reads many notes of one refresh; remembers which folders were checked. */
export function createNoteReader(root: string): NoteReader {
  const buffer = Buffer.allocUnsafe(MOST_BYTES);
  const folders = new Map<string, boolean>();
  const isPlain = (path: string): boolean => {
    const folder = dirname(path);
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const expected = folder === "." ? root : join(root, folder);
    const plain = realOf(expected) === expected;
    folders.set(folder, plain);
    return plain;
  };
  return {
    isPlain,
    read(path) {
      if (!isPlain(path)) return undefined;
      let file: number;
      try {
        file = openSync(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      } catch {
        return undefined;
      }
      try {
        const stat = fstatSync(file);
        if (!stat.isFile()) return undefined;
        let length = 0;
        for (let read = -1; read !== 0 && length < buffer.length; length += read) read = readSync(file, buffer, length, buffer.length - length, null);
        const bytes = buffer.subarray(0, length);
        // A NUL is in no text.
        return bytes.subarray(0, 4096).includes(0) ? undefined : { seen: seenOf(stat), modifiedMs: stat.mtimeMs, text: bytes.toString("utf8"), bytes };
      } catch {
        return undefined;
      } finally {
        closeSync(file);
      }
    },
  };
}

/** Size and times of a file; another value means that it has to be read again. */
export function seenOf(stat: Stats): string {
  return `${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${stat.ino}`;
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
