import type { Env, Paths } from "../../config/paths.ts";
import type { ProgramEnv, runProgram } from "../../lib/subprocess.ts";

export type FindingStatus = "ok" | "info" | "warn" | "fail";

/** One line of `cru doctor`. `fail`: something that everything needs is broken. `warn`: part of Crucible cannot be used. */
export type Finding = { id: string; status: FindingStatus; message: string; fix: string | null };

export type DoctorInput = { cwd: string; paths: Paths; env: Env; trust: boolean; /** Mend what can be mended without losing anything. */ fix: boolean };
export type DoctorDeps = { run: typeof runProgram };

/** A check is data and never throws for what it finds. */
export type Check = { id: string; look(input: DoctorInput, deps: DoctorDeps): Promise<Finding[]> | Finding[] };

export function finding(id: string, status: FindingStatus, message: string, fix: string | null = null): Finding {
  return { id, status, message, fix };
}

/** Enough for a program to find itself and its user's configuration, and no key of any provider. */
export function plainEnv(env: Env): ProgramEnv {
  const kept = ["PATH", "HOME", "USER", "TMPDIR", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...Object.fromEntries(kept), LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" };
}

/** `2.39.5 (Apple Git-154)` → [2, 39, 5]. */
export function versionIn(text: string): number[] | undefined {
  return /(\d+)\.(\d+)(?:\.(\d+))?/.exec(text)?.slice(1).map((part) => Number(part ?? 0));
}

export function isBelow(version: readonly number[], least: readonly number[]): boolean {
  const at = least.findIndex((part, i) => (version[i] ?? 0) !== part);
  return at >= 0 && (version[at] ?? 0) < (least[at] ?? 0);
}
