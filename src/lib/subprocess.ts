import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, statSync } from "node:fs";
import type { Duplex, Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { boundedText } from "./bounded-text.ts";

/** Exactly what the program sees: nothing is inherited. */
export type ProgramEnv = Record<string, string | undefined>;

export type RunOptions = {
  cwd?: string;
  env: ProgramEnv;
  /** Without it stdin is empty. */
  input?: string | Uint8Array;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Kept of each stream; what is over is cut out of the middle (`keep: "tail"`: off the front) and counted. */
  maxBytes?: number;
  keep?: "ends" | "tail";
  /** Everything, as it comes, whole characters only. */
  onOutput?: (stream: OutputStream, text: string) => void;
};

export type OutputStream = "stdout" | "stderr";

export type RunResult = {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  timedOut: boolean;
  aborted: boolean;
  truncated: boolean;
  /** No such program. */
  notFound: boolean;
  /** Why it could not be started (also when it was not found). */
  failure: StartFailure | null;
  durationMs: number;
};

export type StartFailure = { code: string; message: string };

const DEFAULT_MAX_BYTES = 1 << 20;
const GRACE_MS = 1000;
const DRAIN_MS = 500;

/** Runs a program to its end. Never throws for what the program or the machine does; the whole process group is gone when this returns. */
export async function runProgram(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const started = performance.now();
  if (options.signal?.aborted === true) return notStarted({ aborted: true }, started);
  const program = startProgram(command, args, {
    env: options.env,
    stdin: options.input === undefined ? "ignore" : "pipe",
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  if (options.input !== undefined) program.stdin?.end(options.input);
  return collectRun(program, options, started);
}

/** The second half of `runProgram`, for a program that was started by hand. `softStop` replaces the first, polite signal. */
export async function collectRun(
  program: Program,
  options: Pick<RunOptions, "timeoutMs" | "signal" | "maxBytes" | "keep" | "onOutput"> & { softStop?: () => void },
  started = performance.now(),
): Promise<RunResult> {
  const stdout = collect(program.stdout, "stdout", options);
  const stderr = collect(program.stderr, "stderr", options);
  let timedOut = false;
  let aborted = false;
  const onAbort = (): void => {
    aborted = true;
    program.stop(options.softStop);
  };
  const timer = options.timeoutMs === undefined ? undefined : setTimeout(() => {
    timedOut = true;
    program.stop(options.softStop);
  }, Math.min(options.timeoutMs, 2 ** 31 - 1));
  if (options.signal?.aborted === true) onAbort();
  options.signal?.addEventListener("abort", onAbort, { once: true });
  const end = await program.ended;
  clearTimeout(timer);
  options.signal?.removeEventListener("abort", onAbort);
  return {
    code: end.code,
    signal: end.signal,
    stdout: stdout.finish(),
    stderr: stderr.finish(),
    timedOut,
    aborted,
    truncated: stdout.cut() || stderr.cut(),
    notFound: end.failure?.code === "ENOENT",
    failure: end.failure,
    durationMs: performance.now() - started,
  };
}

export type StartOptions = {
  cwd?: string;
  env: ProgramEnv;
  stdin?: "pipe" | "ignore";
  /** Further two-way pipes, from descriptor 3 on. */
  pipes?: number;
};

export type ProgramEnd = { code: number | null; signal: NodeJS.Signals | null; failure: StartFailure | null };

export type Program = {
  pid: number | undefined;
  stdin: Writable | null;
  stdout: Readable | null;
  stderr: Readable | null;
  /** Descriptors 3, 4, … */
  pipes: Duplex[];
  /** Resolves, never rejects, when the program has ended, its group is gone and its output was read. */
  ended: Promise<ProgramEnd>;
  /** Asks the group to end (or calls `softly`), and kills it when it has not within `graceMs`, a second by default. */
  stop(softly?: () => void, graceMs?: number): void;
  kill(signal: NodeJS.Signals): void;
};

/** Starts a program in its own process group. A failure to start comes out of `ended`. */
export function startProgram(command: string, args: readonly string[], options: StartOptions): Program {
  let child: ChildProcess;
  try {
    const extra = Array.from({ length: options.pipes ?? 0 }, () => "pipe" as const);
    child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: [options.stdin ?? "ignore", "pipe", "pipe", ...extra],
      detached: true,
    });
  } catch (error) {
    return deadProgram(startFailure(error, command, options.cwd));
  }
  const pipes = child.stdio.slice(3) as Duplex[];
  // A program that ends without reading breaks the pipe; that is its right.
  for (const stream of [child.stdin, ...pipes]) stream?.on("error", () => {});

  let killTimer: NodeJS.Timeout | undefined;
  const group = (signal: NodeJS.Signals): void => signalGroup(child.pid, signal);
  if (child.pid !== undefined) remember(child.pid);
  const ended = new Promise<ProgramEnd>((resolve) => {
    let drain: NodeJS.Timeout | undefined;
    const finish = (end: ProgramEnd): void => {
      clearTimeout(killTimer);
      clearTimeout(drain);
      if (child.pid !== undefined) alive.delete(child.pid);
      for (const stream of child.stdio) stream?.destroy();
      resolve(end);
    };
    child.once("error", (error) => {
      // "error" is also emitted when a signal could not be sent; then the program has a pid and "exit" follows.
      if (child.pid === undefined) finish({ code: null, signal: null, failure: startFailure(error, command, options.cwd) });
    });
    child.once("exit", (code, signal) => {
      group("SIGKILL");
      // Somebody who left the group may hold the pipes for ever.
      drain = setTimeout(() => finish({ code, signal, failure: null }), DRAIN_MS);
    });
    child.once("close", (code, signal) => {
      if (child.pid !== undefined) finish({ code, signal, failure: null });
    });
  });

  return {
    pid: child.pid,
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    pipes,
    ended,
    stop(softly, graceMs = GRACE_MS) {
      if (killTimer !== undefined || child.exitCode !== null || child.signalCode !== null) return;
      killTimer = setTimeout(() => group("SIGKILL"), graceMs);
      if (softly === undefined) group("SIGTERM");
      else softly();
    },
    kill: group,
  };
}

/** Starts a program that outlives this one: own session, no terminal, output into a file. Undefined when it could not be started. */
export async function startBackground(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: ProgramEnv; logFile: string },
): Promise<number | undefined> {
  const log = openSync(options.logFile, "a", 0o600);
  try {
    const child = spawn(command, args, { cwd: options.cwd, env: options.env, detached: true, stdio: ["ignore", log, log] });
    const started = await new Promise<boolean>((resolve) => {
      child.once("spawn", () => resolve(true));
      child.once("error", () => resolve(false));
    });
    child.unref();
    return started ? child.pid : undefined;
  } finally {
    closeSync(log);
  }
}

/** Programs in their own group do not get the terminal's Ctrl-C, so whatever ends this process must end them. */
const alive = new Set<number>();

function remember(pid: number): void {
  if (alive.size === 0 && !process.listeners("exit").includes(endAll)) process.on("exit", endAll);
  alive.add(pid);
}

function endAll(): void {
  for (const pid of alive) signalGroup(pid, "SIGKILL");
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined || pid <= 1) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Already gone.
  }
}

function collect(
  stream: Readable | null,
  name: OutputStream,
  options: Pick<RunOptions, "maxBytes" | "keep" | "onOutput">,
): { finish(): string; cut(): boolean } {
  const kept = boundedText(options.maxBytes ?? DEFAULT_MAX_BYTES, options.keep);
  const decoder = new StringDecoder("utf8");
  const tell = (text: string): void => {
    if (text !== "") options.onOutput?.(name, text);
  };
  stream?.on("data", (chunk: Buffer) => {
    kept.add(chunk);
    if (options.onOutput !== undefined) tell(decoder.write(chunk));
  });
  stream?.on("error", () => {});
  return {
    finish() {
      if (options.onOutput !== undefined) tell(decoder.end());
      return kept.text();
    },
    cut: () => kept.cutBytes() > 0,
  };
}

function startFailure(error: unknown, command: string, cwd: string | undefined): StartFailure {
  const code = (error as NodeJS.ErrnoException).code ?? "UNKNOWN";
  // A missing folder and a missing program are both ENOENT.
  if (code === "ENOENT" && cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return { code: "ENOTDIR", message: `the folder ${cwd} does not exist` };
  }
  if (code === "ENOENT") return { code, message: `${command} was not found` };
  return { code, message: `${command} could not be started: ${(error as Error).message}` };
}

function deadProgram(failure: StartFailure): Program {
  const ended = Promise.resolve({ code: null, signal: null, failure });
  return { pid: undefined, stdin: null, stdout: null, stderr: null, pipes: [], ended, stop() {}, kill() {} };
}

function notStarted(how: { aborted: boolean }, started: number): RunResult {
  return {
    code: null, signal: null, stdout: "", stderr: "", timedOut: false, aborted: how.aborted, truncated: false, notFound: false, failure: null,
    durationMs: performance.now() - started,
  };
}
