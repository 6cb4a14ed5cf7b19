import type { Settings } from "../contract/settings-defaults.ts";
import { inertLine } from "../lib/inert.ts";
import { type ProgramEnv, runProgram } from "../lib/subprocess.ts";

/** What a person is told about; a command of theirs gets it as JSON on stdin. Fields may be added, never renamed. */
export type Notice = {
  event: "question" | "blocked" | "done";
  session_id: string;
  /** How the work ended; of a question `waiting`. */
  status: string;
  /** Of a question: what `cru inbox show` takes. */
  inbox_id: string | null;
  title: string;
  text: string;
  /** The project's folder. */
  project: string;
};

export type NotifierDeps = {
  /** Undefined where there is no terminal to ring. */
  bell: (() => void) | undefined;
  env: ProgramEnv;
  cwd: string;
  warn(message: string): void;
  timeoutMs?: number;
};

export type Notifier = {
  /** Never waits and never throws. The same event of the same subject is told once. */
  notify(notice: Notice, key: string): void;
  /** When every command has ended; each has a limited time. */
  settled(): Promise<void>;
};

const TIMEOUT_MS = 10_000;

/** Bell and commands, as the user's own settings say. A command is a program with arguments, never a line for a shell. */
export function openNotifier(ways: Settings["notify"], deps: NotifierDeps): Notifier {
  const told = new Set<string>();
  const running = new Set<Promise<void>>();

  return {
    notify(notice, key) {
      if (told.has(key)) return;
      told.add(key);
      for (const way of ways) {
        if (way.type === "bell") deps.bell?.();
        else {
          const run = runCommand(way.command, notice, deps);
          running.add(run);
          void run.finally(() => running.delete(run));
        }
      }
    },
    async settled() {
      await Promise.all(running);
    },
  };
}

async function runCommand([program = "", ...args]: readonly string[], notice: Notice, deps: NotifierDeps): Promise<void> {
  const timeoutMs = deps.timeoutMs ?? TIMEOUT_MS;
  const end = await runProgram(program, args, { cwd: deps.cwd, env: deps.env, input: `${JSON.stringify(notice)}\n`, timeoutMs, maxBytes: 4096 });
  if (end.code === 0) return;
  const why = end.failure !== null ? end.failure.message : end.timedOut ? `did not end within ${timeoutMs / 1000} s` : `ended with ${end.code ?? end.signal ?? "nothing"}`;
  deps.warn(`the notify command ${inertLine(program, 80)} failed: ${inertLine(why, 200)}`);
}
