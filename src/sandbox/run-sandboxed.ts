import { randomBytes } from "node:crypto";
import { readFileSync, realpathSync } from "node:fs";
import { sep } from "node:path";
import { CruError } from "../contract/error.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import { collectRun, type Program, type RunOptions, runProgram, type RunResult, startProgram } from "../lib/subprocess.ts";
import { type Appeared, moveAppeared, protectedState } from "./appeared.ts";
import { bubblewrapArgs, groupFile, insideHome, passwdFile } from "./bubblewrap.ts";
import { hostFacts, insidePath } from "./host-facts.ts";
import { markerText, MARKER_VARIABLE } from "./marker.ts";
import { findBubblewrap, probeSandbox, sandboxFault, sandboxMissing } from "./probe.ts";
import { reap, RUN_VARIABLE } from "./reap.ts";
import type { SandboxSpec } from "./spec.ts";

export type SandboxedOptions = Pick<RunOptions, "input" | "timeoutMs" | "signal" | "maxBytes" | "keep" | "onOutput"> & {
  mode: Settings["sandbox"]["mode"];
  /** Beside PATH, HOME, LANG and TMPDIR. Nothing of this process's own environment goes in. */
  env?: Record<string, string>;
  /** Where protected paths that the command made are put; a new private folder by default. */
  asideFolder?: string;
};

export type SandboxedResult = RunResult & { sandboxed: boolean; appeared: Appeared[] };

/**
 * Runs a command with what the spec shows it, and nothing of it is left afterwards. With mode `required` and no working
 * sandbox it runs nothing and throws `sandbox_missing`; `off` and `external` run it plainly, because the user said so.
 */
export async function runSandboxed(spec: SandboxSpec, command: readonly string[], options: SandboxedOptions): Promise<SandboxedResult> {
  if (options.mode !== "required") return runPlain(spec, command, options);
  const program = findBubblewrap(process.env.PATH, spec.workspace);
  if (program === undefined) throw sandboxMissing(await missing());
  refuseHome(spec);
  const facts = hostFacts(spec, { path: process.env.PATH, node: process.execPath, uid: process.getuid?.() ?? 1000 });
  const env = { PATH: insidePath(spec, facts, process.env.PATH), HOME: insideHome(spec), LANG: "C.UTF-8", TMPDIR: "/tmp", USER: "agent", ...options.env };
  const before = protectedState(spec.workspace);
  const started = performance.now();
  if (options.signal?.aborted === true) return { ...(await runProgram(program, [], { env: {}, signal: options.signal })), sandboxed: true, appeared: [] };
  const child = startProgram(program, bubblewrapArgs(spec, facts, command), { env, stdin: options.input === undefined ? "ignore" : "pipe", pipes: 4 });
  const isReady = shakeHands(child, [spec.marker === undefined ? "" : markerText(spec.marker), passwdFile(spec, facts), groupFile(facts)]);
  if (options.input !== undefined) child.stdin?.end(options.input);
  const result = await collectRun(child, { ...options, softStop: () => endPolitely(child) }, started);
  if (!isReady() && !result.aborted && !result.timedOut) throw sandboxMissing(sandboxFault(result.failure?.message ?? result.stderr));
  const appeared = spec.writable ? moveAppeared(spec.workspace, before, { allowed: spec.allowProtected ?? [], folder: options.asideFolder }) : [];
  return { ...result, sandboxed: true, appeared };
}

/** Sends the set-up data, and the go once the sandbox says that it stands. */
function shakeHands(child: Program, data: readonly string[]): () => boolean {
  const [handshake, ...sources] = child.pipes;
  let ready = false;
  handshake?.once("data", () => {
    ready = true;
    handshake.write("go\n");
  });
  sources.forEach((source, i) => source.end(data[i] ?? ""));
  return () => ready;
}

/** bubblewrap does not pass signals on; its own end kills everything inside at once. */
function endPolitely(child: Program): void {
  const first = childrenOf(child.pid)[0];
  const command = childrenOf(first)[0];
  try {
    if (command === undefined) child.kill("SIGKILL");
    else process.kill(command, "SIGTERM");
  } catch {
    child.kill("SIGKILL");
  }
}

function childrenOf(pid: number | undefined): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter((word) => word !== "").map(Number);
  } catch {
    return [];
  }
}

async function runPlain(spec: SandboxSpec, command: readonly string[], options: SandboxedOptions): Promise<SandboxedResult> {
  const tag = randomBytes(12).toString("hex");
  const env = {
    PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    HOME: spec.home,
    LANG: "C.UTF-8",
    ...(spec.marker === undefined ? {} : { [MARKER_VARIABLE]: markerText(spec.marker).trim() }),
    ...options.env,
    [RUN_VARIABLE]: tag,
  };
  const { mode: _mode, asideFolder: _aside, env: _env, ...run } = options;
  const [program = "", ...args] = command;
  const result = await runProgram(program, args, { ...run, cwd: spec.cwd ?? spec.workspace, env });
  // Again and again: a storm of forks may have made new ones while the list was read.
  for (let round = 0; round < 50 && reap(tag); round++) await new Promise((resolve) => setTimeout(resolve, 5));
  return { ...result, sandboxed: false, appeared: [] };
}

function refuseHome(spec: SandboxSpec): void {
  const home = realOf(spec.home);
  if (home !== spec.workspace && !home.startsWith(spec.workspace.endsWith(sep) ? spec.workspace : spec.workspace + sep)) return;
  throw new CruError("sandbox_missing", "the workspace holds your home folder, so a sandbox would hide nothing", { hint: "work in a project folder" });
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

async function missing(): Promise<Exclude<Awaited<ReturnType<typeof probeSandbox>>, { ok: true }>> {
  const state = await probeSandbox({ path: process.env.PATH });
  return state.ok ? sandboxFault("") : state;
}
