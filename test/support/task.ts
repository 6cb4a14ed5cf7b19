import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { Script } from "../../src/scripted/script.ts";
import { type ChatMachine, chatMachine } from "./chat.ts";
import { done } from "./claude.ts";
import { type Finished, repository } from "./cru.ts";
import { claudePath } from "./peers.ts";
import { processesNaming } from "./processes.ts";

export type TaskMachine = ChatMachine & {
  /** `cru task …` with the real CLI on a scripted model. */
  task(args: string[], options?: { env?: Record<string, string>; input?: string }): Promise<Finished>;
  /** The same in the background. */
  start(args: string[], options?: { env?: Record<string, string> }): Live;
  /** As the user types it, in the main checkout. */
  git(...args: string[]): string;
  worktree(bead: string): string;
  beads(): Record<string, unknown>[];
};

export type Live = { pid: number; kill(signal: NodeJS.Signals): void; stderr(): string; stdout(): string; ended: Promise<Finished> };

const running = new Set<ChildProcess>();

// What a failed test left running.
afterEach(() => {
  for (const child of running) child.kill("SIGKILL");
});

/** A user's machine with a repository of one commit; its agent program is the real CLI unless `command` names another. */
export async function taskMachine(script: Script, options: { project?: Record<string, string>; home?: Record<string, string>; command?: string } = {}): Promise<TaskMachine> {
  const box = await chatMachine(script, { project: { "a.txt": "one\n", ...options.project }, home: options.home ?? {} });
  const env = { ...box.env, CRU_CLAUDE_COMMAND: options.command ?? claudePath, PATH: process.env.PATH ?? "" };
  const identity = { GIT_AUTHOR_NAME: "T", GIT_AUTHOR_EMAIL: "t@example.invalid", GIT_COMMITTER_NAME: "T", GIT_COMMITTER_EMAIL: "t@example.invalid" };
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: box.project, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env.PATH, HOME: box.home, GIT_CONFIG_NOSYSTEM: "1", ...identity } });
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("commit", "-q", "-m", "first");
  return {
    ...box,
    env,
    git,
    task: (args, more = {}) => box.cru(["task", ...args], { ...more, env: { ...env, ...more.env } }),
    start: (args, more = {}) => live(args, box.project, { HOME: box.home, NO_COLOR: "1", ...env, ...more.env }),
    worktree: (bead) => join(box.project, ".coven", "worktrees", bead),
    beads: () => readFileSync(join(box.project, ".beads", "issues.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

export { done, processesNaming };

/** A reply of the model that runs a shell command. */
export function bash(command: string, text?: string): { text?: string; tools: { name: string; input: unknown }[] } {
  return { ...(text === undefined ? {} : { text }), tools: [{ name: "Bash", input: { command, description: "run it" } }] };
}

function live(args: string[], cwd: string, env: Record<string, string>): Live {
  const child = spawn(process.execPath, [join(repository, "dist", "main.js"), ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const ended = new Promise<Finished>((resolve) =>
    child.once("close", (code) => {
      running.delete(child);
      resolve({ code: code ?? -1, stdout, stderr });
    }));
  return { pid: child.pid ?? 0, kill: (signal) => void child.kill(signal), stdout: () => stdout, stderr: () => stderr, ended };
}
