import { CruError } from "../contract/error.ts";

const REASONS: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EFBIG: "the file would be too large",
  EIO: "the disk reports an error",
  EROFS: "the file system is read-only",
  EACCES: "permission denied",
  EPERM: "the operation is not permitted",
  ENOTDIR: "a part of its path is no folder",
  ELOOP: "its path goes through too many links",
  EMFILE: "too many open files",
  ENFILE: "too many open files",
};

const STEPS: Record<string, string> = {
  ENOSPC: "free some space, then try again",
  EDQUOT: "free some space, then try again",
  EIO: "check the disk",
  EMFILE: "raise the limit (ulimit -n) or end other programs",
  ENFILE: "end other programs",
};

const VERBS: Record<string, string> = { mkdir: "made", mkdtemp: "made", scandir: "read", read: "read", stat: "read", lstat: "read", open: "opened", unlink: "removed", rm: "removed", rmdir: "removed" };

/** Runs a write. When the machine refuses it, that is said in words, and is nobody's bug. */
export function writing<T>(what: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === undefined) throw error;
    const path = pathOf(error);
    throw new CruError("failed", `${what} cannot be written: ${reason}${path === undefined ? "" : ` (${path})`}`, { hint: "put that right and go on from there; what was written before is safe", cause: error });
  }
}

/** A refusal of the machine as words for the user; undefined when the error is something else. */
export function diskFault(error: unknown): CruError | undefined {
  const { code = "", syscall = "" } = fields(error);
  if (syscall === "uv_cwd") return new CruError("failed", "the current folder does not exist any more", { hint: "go to another folder with cd", cause: error });
  const reason = reasonOf(error);
  if (reason === undefined) return undefined;
  const what = pathOf(error) ?? (syscall === "write" ? "the output" : "a file");
  const hint = STEPS[code] ?? (what === "the output" ? "check where the output goes" : "check that path and who may use it, or work in another folder");
  return new CruError("failed", `${what} cannot be ${VERBS[syscall] ?? "written"}: ${reason}`, { hint, cause: error });
}

/** Only what a system call said. A missing file may be a bug of ours; a folder that cannot be made is not. */
function reasonOf(error: unknown): string | undefined {
  const { code = "", syscall } = fields(error);
  if (syscall === undefined || syscall === "connect" || syscall.startsWith("spawn")) return undefined;
  if (syscall === "mkdir" && code === "ENOENT") return "its parent folder does not exist and cannot be made";
  if (syscall === "mkdir" && code === "EEXIST") return "a file of that name is in the way";
  return REASONS[code];
}

function pathOf(error: unknown): string | undefined {
  const { dest, path } = fields(error);
  return dest ?? path;
}

function fields(error: unknown): NodeJS.ErrnoException & { dest?: string } {
  return error instanceof Error ? error : new Error();
}
