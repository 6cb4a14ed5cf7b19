import { CruError } from "../contract/error.ts";
import { diskFault } from "../lib/disk-fault.ts";
import { inert } from "../lib/inert.ts";
import type { Io } from "./command.ts";
import { HelpShown } from "./program.ts";

/** Turns whatever ended a command into words for the user and an exit code. */
export function report(error: unknown, io: Io, asJson: boolean): number {
  if (error instanceof HelpShown) return 0;
  const known = error instanceof CruError ? error : diskFault(error);
  if (known !== undefined) {
    const { code, message, hint } = known;
    io.err(`cru: ${inert(message)}\n${hint === undefined ? "" : `  → ${inert(hint)}\n`}`);
    // An output that could not be written takes no error either.
    if (asJson && (known === error || !isOutput(error))) io.out(`${JSON.stringify({ error: { code, message, hint: hint ?? null } })}\n`);
    return known.exitCode;
  }
  io.err(`cru: this is a bug in Crucible, please report it with the lines below\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
}

function isOutput(error: unknown): boolean {
  const { syscall, path } = error as NodeJS.ErrnoException;
  return syscall === "write" && path === undefined;
}
