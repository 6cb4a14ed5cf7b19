import { closeSync, constants, fstatSync, openSync, readSync, realpathSync, type Stats } from "node:fs";
import { crc32 } from "node:zlib";

export type NoteFile = { seen: number; modifiedMs: number; text: string; bytes: Buffer };

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
    const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
    const known = folders.get(folder);
    if (known !== undefined) return known;
    const expected = folder === "" ? root : `${root}/${folder}`;
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
        file = openSync(`${root}/${path}`, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      } catch {
        return undefined;
      }
      try {
        const stat = fstatSync(file);
        if (!stat.isFile()) return undefined;
        let length = 0;
        // A file that grows meanwhile has another time next time.
        const size = Math.min(stat.size, buffer.length);
        for (let read = -1; read !== 0 && length < size; length += read) read = readSync(file, buffer, length, size - length, null);
        const text = buffer.toString("utf8", 0, length);
        return isBinary(text) ? undefined : { seen: seenOf(stat), modifiedMs: stat.mtimeMs, text, bytes: buffer.subarray(0, length) };
      } catch {
        return undefined;
      } finally {
        closeSync(file);
      }
    },
  };
}

/** A NUL is in no text. */
function isBinary(text: string): boolean {
  const at = text.indexOf("\0");
  return at >= 0 && at < 4096;
}

/** Size and times of a file as one number; another one means that it has to be read again. */
export function seenOf(stat: Stats): number {
  times[0] = stat.mtimeMs;
  times[1] = stat.ctimeMs;
  times[2] = stat.ino;
  return crc32(timeBytes) + (stat.size % 2 ** 20) * 2 ** 32;
}

const times = new Float64Array(3);
const timeBytes = new Uint8Array(times.buffer);

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
