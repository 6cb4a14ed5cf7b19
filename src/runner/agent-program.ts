import { closeSync, openSync, readSync, realpathSync } from "node:fs";
import { isAbsolute } from "node:path";
import { CruError } from "../contract/error.ts";
import type { RunBind } from "../contract/runner.ts";
import { findProgram, foldersOfPrograms, isFile } from "../lib/find-program.ts";
import { runProgram } from "../lib/subprocess.ts";

export type AgentProgram = { path: string; args: string[]; binds: RunBind[] };
export type AgentPlace = { path: string | undefined; workspace: string; home: string };

/** The user's program by its real path, never one that lies in the workspace, and what a sandbox must show for it to run. */
export function findAgentProgram([command = "", ...args]: readonly string[], place: AgentPlace, hint: string): AgentProgram {
  const found = findProgram(command, { path: place.path, notBelow: place.workspace });
  if (found === undefined) throw new CruError("provider_missing", `the agent program '${command}' was not found`, { hint });
  const path = realpathSync(found);
  const scripts = [...(isNative(path) ? [] : [path]), ...args.filter((arg) => isAbsolute(arg) && isFile(arg))];
  const shown = [...(isNative(path) ? [path] : []), ...foldersOfPrograms(scripts, place)];
  return { path, args, binds: shown.map((from) => ({ from })) };
}

/** What the program says it is; undefined when it does not say. */
export async function programVersion(path: string, env: Record<string, string>): Promise<string | undefined> {
  const run = await runProgram(path, ["--version"], { env, timeoutMs: 30_000 });
  return /\d+\.\d+\.\d+\S*/.exec(run.stdout)?.[0];
}

function isNative(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const magic = Buffer.alloc(4);
    readSync(file, magic, 0, 4, 0);
    return magic.equals(Buffer.from([0x7f, 0x45, 0x4c, 0x46]));
  } finally {
    closeSync(file);
  }
}
