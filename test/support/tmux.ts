import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import { repository } from "./cru.ts";
import { isAlive, until } from "./processes.ts";
import { temporaryFolder } from "./temp.ts";

/** Undefined when there is a tmux; else why these tests do not run. In CI it has to be there. */
export const NO_TMUX = spawnSync("tmux", ["-V"]).error === undefined || process.env.CI !== undefined ? undefined : "tmux is not installed";

const running: { socket: string; shell: number }[] = [];

// Before the folders go, and the sockets in them.
afterEach(async () => {
  for (const { socket, shell } of running.splice(0)) {
    const programs = childrenOf(shell);
    spawnSync("tmux", ["-S", socket, "kill-server"]);
    // They save their session when the terminal goes.
    await until(() => !programs.some(isAlive));
  }
});

/** Only there so that a test that waits in vain says on which screen: on a busy machine everything takes its time. */
const LIMIT_MS = 150_000;
export const TERMINAL_TIMEOUT = 900_000;

export type Window = {
  /** What a person sees now, without trailing blanks. */
  screen(): string;
  /** Screen and scrollback. */
  all(): string;
  /** The screen with its escape sequences. */
  raw(): string;
  type(text: string): void;
  /** tmux names: Enter, Escape, C-c, M-Enter, Up … */
  press(...keys: string[]): void;
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** Polls until the screen holds all of it; fails with the screen that it was waiting on. */
  see(...texts: (string | RegExp)[]): Promise<string>;
  /** Whether the program has ended; then the shell says how. */
  ended(): Promise<number>;
};

export type WindowOptions = { cwd: string; env: Record<string, string>; columns?: number; rows?: number };

/** The built program in a terminal of its own, driven by keys as a person would. */
export function openWindow(args: readonly string[], { cwd, env, columns = 80, rows = 24 }: WindowOptions): Window {
  const socket = join(temporaryFolder(), "tmux");
  const tmux = (...words: string[]): string => execFileSync("tmux", ["-S", socket, ...words], { encoding: "utf8", env: { PATH: process.env.PATH ?? "", HOME: cwd, LANG: "C.UTF-8", LC_ALL: "C.UTF-8" } });
  const vars = Object.entries({ PATH: process.env.PATH ?? "", LANG: "C.UTF-8", TERM: "screen-256color", ...env }).map(([k, v]) => `${k}=${quoted(v)}`);
  const command = `cd ${quoted(cwd)} && env -i ${vars.join(" ")} ${[process.execPath, join(repository, "dist", "main.js"), ...args].map(quoted).join(" ")}; code=$?; stty -a | tr ' ;' '\\n\\n' | grep -xE -- '-?(icanon|echo)' | tr '\\n' ' '; echo; echo "ENDED $code"; exec sleep 600`;
  tmux("-f", "/dev/null", "new-session", "-d", "-x", String(columns), "-y", String(rows), "sh", "-c", command);
  running.push({ socket, shell: Number(tmux("list-panes", "-F", "#{pane_pid}")) });
  tmux("set-option", "-g", "history-limit", "20000");
  tmux("set-option", "-g", "status", "off");
  tmux("resize-window", "-x", String(columns), "-y", String(rows));
  const capture = (...more: string[]): string => tmux("capture-pane", "-p", ...more).split("\n").map((l) => l.trimEnd()).join("\n").trimEnd();
  const window: Window = {
    screen: () => capture(),
    all: () => capture("-S", "-"),
    raw: () => tmux("capture-pane", "-p", "-e"),
    type: (text) => void tmux("send-keys", "-l", "--", text),
    press: (...keys) => void tmux("send-keys", ...keys),
    paste(text) {
      execFileSync("tmux", ["-S", socket, "load-buffer", "-"], { input: text });
      tmux("paste-buffer", "-p");
    },
    resize: (c, r) => void tmux("resize-window", "-x", String(c), "-y", String(r)),
    async see(...texts) {
      for (const end = Date.now() + LIMIT_MS; ; ) {
        const screen = window.screen();
        if (texts.every((t) => (typeof t === "string" ? screen.includes(t) : t.test(screen)))) return screen;
        if (/^ENDED \d+/m.test(screen)) throw new Error(`the program has ended; the screen was:\n${screen}`);
        if (Date.now() > end) throw new Error(`not seen: ${texts.map(String).join(" · ")}; the screen was:\n${screen}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    ended: async () => Number(/ENDED (\d+)/.exec(await window.see(/ENDED \d+/))?.[1]),
  };
  return window;
}

/** Times, ids and spinners differ from run to run. */
export function masked(screen: string): string {
  return screen
    .replace(/^(Crucible {2}).*/m, "$1FOLDER")
    .replace(/\d{4}-\d\d-\d\d-[a-z0-9-]+/g, "SESSION")
    .replace(/\b[\d.]+[kM]? tok · /g, "N tok · ")
    .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "*")
    .replace(/ +\d+(?:\.\d)? (?:ms|s)\b/g, " TIME")
    .replace(/ +\d+:\d\d min\b/g, " TIME")
    .replace(/(folder: ).*/, "$1FOLDER")
    .replace(/\d:\d\d left ──/g, "N:NN left ──")
    .replace(/\$\d+\.\d+(?: estimated)? · [\d,]+ tok/g, "COST")
    .replace(/ +\$\d+\.\d+/g, " COST")
    .replace(/ +COST/g, " COST")
    .replace(/ {3,}(claude-|N tok)/g, "   $1")
    .replace(/-[0-9a-f]{4,}\.md/g, "-ID.md")
    .replace(/\b[0-9a-f]{8}\b/g, "ITEM");
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter((p) => p !== "").map(Number);
  } catch {
    return [];
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
