import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync, type Stats } from "node:fs";
import { sep } from "node:path";

export type ReadFault = "file.unreadable" | "file.too_large" | "file.outside" | "file.not_a_file";
/** `stat` is how the file looked just before it was read; undefined behind a symlink. */
export type Guarded = { ok: true; bytes: Buffer; stat: Stats | undefined } | { ok: false; fault: ReadFault; reason: string };

/** O_NONBLOCK: opening a FIFO that nobody writes to must not hang. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads a file that a stranger may have placed. A symlink is followed only to a file inside `folder` (a real path), and the
 * resolved path is opened without following links again, so that a swap between check and open cannot lead outside.
 * `bytes` is a view of `buffer`, good until the next call; a file that does not fit into it is too large.
 */
export function readGuarded(path: string, folder: string, buffer: Buffer): Guarded {
  try {
    return readOpened(openSync(path, FLAGS), buffer);
  } catch (error) {
    if (errorCode(error) !== "ELOOP") return refusal(error);
  }
  try {
    const real = realpathSync(path);
    if (!isInside(real, folder)) return { ok: false, fault: "file.outside", reason: "a symlink that leaves its folder" };
    const read = readInside(real, folder, buffer);
    return read.ok ? { ...read, stat: undefined } : read;
  } catch (error) {
    return refusal(error);
  }
}

export function isInside(path: string, folder: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** O_NOFOLLOW guards only the last part of a path; where Linux tells what was really opened, that is checked too. */
function readInside(real: string, folder: string, buffer: Buffer): Guarded {
  const file = openSync(real, FLAGS);
  if (process.platform === "linux") {
    try {
      if (!isInside(readlinkSync(`/proc/self/fd/${file}`), folder)) {
        closeSync(file);
        return { ok: false, fault: "file.outside", reason: "a symlink that leaves its folder" };
      }
    } catch (error) {
      closeSync(file);
      return refusal(error);
    }
  }
  return readOpened(file, buffer);
}

function readOpened(file: number, buffer: Buffer): Guarded {
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return notAFile();
    // One call is enough: reading a regular file ends early only at its end.
    const length = readSync(file, buffer, 0, buffer.length, null);
    if (length === buffer.length) return { ok: false, fault: "file.too_large", reason: `larger than ${Math.floor(buffer.length / 1024)} KiB` };
    return { ok: true, bytes: buffer.subarray(0, length), stat };
  } catch (error) {
    return refusal(error);
  } finally {
    closeSync(file);
  }
}

function refusal(error: unknown): Guarded {
  const code = errorCode(error);
  if (code === "EISDIR" || code === "EAGAIN" || code === "ENXIO" || code === "ENODEV") return notAFile();
  const reason = code === "EACCES" || code === "EPERM" ? "permission denied" : code === "ENOENT" ? "it does not exist (a dangling symlink?)" : code === "ELOOP" ? "symlinks that point in a circle" : (code ?? "it cannot be read");
  return { ok: false, fault: "file.unreadable", reason };
}

function notAFile(): Guarded {
  return { ok: false, fault: "file.not_a_file", reason: "not a regular file" };
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
