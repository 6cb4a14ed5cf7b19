import { CruError } from "../contract/error.ts";

const REASONS: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be too large",
  EIO: "the disk reports an error",
  EROFS: "the file system is read-only",
  EACCES: "permission denied",
  EMFILE: "too many open files",
  ENFILE: "too many open files",
};

/** Runs a write. When the machine refuses it, that is said in words, and is nobody's bug. */
export function writing<T>(what: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    const reason = REASONS[(error as NodeJS.ErrnoException).code ?? ""];
    if (reason === undefined) throw error;
    throw new CruError("failed", `${what} cannot be written: ${reason}`, { hint: "put that right and go on from there; what was written before is safe", cause: error });
  }
}
