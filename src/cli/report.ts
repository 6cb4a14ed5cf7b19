import { CruError } from "../contract/error.ts";
import { inert } from "../lib/inert.ts";
import type { Io } from "./command.ts";
import { HelpShown } from "./program.ts";

/** Turns whatever ended a command into words for the user and an exit code. */
export function report(error: unknown, io: Io, asJson: boolean): number {
  if (error instanceof HelpShown) return 0;
  if (error instanceof CruError) {
    if (asJson) io.out(`${JSON.stringify({ error: { code: error.code, message: error.message, hint: error.hint ?? null } })}\n`);
    io.err(`cru: ${inert(error.message)}\n${error.hint === undefined ? "" : `  → ${inert(error.hint)}\n`}`);
    return error.exitCode;
  }
  io.err(`cru: this is a bug in Crucible, please report it with the lines below\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  return 1;
}
