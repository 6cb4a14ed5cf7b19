import { collectRun, type RunOptions, runProgram, type RunResult } from "../lib/subprocess.ts";
import { type Appeared, moveAppeared, protectedState } from "./appeared.ts";
import { sandboxFault, sandboxMissing } from "./probe.ts";
import type { SandboxSpec } from "./spec.ts";
import { startSandboxed, type StartSandboxedOptions } from "./start-sandboxed.ts";

export type SandboxedOptions = Pick<RunOptions, "input" | "timeoutMs" | "signal" | "maxBytes" | "keep" | "onOutput"> &
  Pick<StartSandboxedOptions, "mode" | "env"> & {
    /** Where protected paths that the command made are put; a new private folder by default. */
    asideFolder?: string;
  };

export type SandboxedResult = RunResult & { sandboxed: boolean; appeared: Appeared[] };

/** Runs a command to its end with what the spec shows it, and nothing of it is left afterwards. Without a sandbox: see `startSandboxed`. */
export async function runSandboxed(spec: SandboxSpec, command: readonly string[], options: SandboxedOptions): Promise<SandboxedResult> {
  if (options.signal?.aborted === true) return { ...(await runProgram("", [], { env: {}, signal: options.signal })), sandboxed: options.mode === "required", appeared: [] };
  const before = protectedState(spec.workspace);
  const started = performance.now();
  const child = await startSandboxed(spec, command, {
    mode: options.mode,
    stdin: options.input === undefined ? "ignore" : "pipe",
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  if (options.input !== undefined) child.program.stdin?.end(options.input);
  const result = await collectRun(child.program, { ...options, ...(child.softStop === undefined ? {} : { softStop: child.softStop }) }, started);
  await child.sweep();
  if (!child.sandboxed) return { ...result, sandboxed: false, appeared: [] };
  if (!child.isReady() && !result.aborted && !result.timedOut) throw sandboxMissing(sandboxFault(result.failure?.message ?? result.stderr));
  const appeared = spec.writable ? moveAppeared(spec.workspace, before, { allowed: spec.allowProtected ?? [], folder: options.asideFolder }) : [];
  return { ...result, sandboxed: true, appeared };
}
