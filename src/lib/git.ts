import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type RunOptions, type RunResult, runProgram } from "./subprocess.ts";

/** Git is always told where everything is; it never discovers a repository from a folder that an agent can write. */
export type GitPlace = {
  gitDir: string;
  workTree?: string;
  /** Of a linked worktree: the repository's own folder. */
  commonDir?: string;
  indexFile?: string;
};

export type GitOptions = Omit<RunOptions, "env" | "cwd"> & {
  /** Author and committer of what is made; git refuses to commit without. */
  identity?: { name: string; email: string };
  env?: Record<string, string>;
  /** Configuration for this one call; wins over the repository's. */
  settings?: readonly Setting[];
};

/** Runs git so that neither the user's nor the repository's configuration can make it run another program. */
export async function git(place: GitPlace, args: readonly string[], options: GitOptions = {}): Promise<RunResult> {
  const { identity, env, settings: extra = [], ...run } = options;
  const settings = [...extra, ...FIXED, ...(await programsOf(place, run.signal))];
  return runProgram("git", withSafeOptions(args), {
    timeoutMs: 120_000,
    ...run,
    ...(place.workTree === undefined ? {} : { cwd: place.workTree }),
    env: { ...gitEnv(), ...placeEnv(place), ...identityEnv(identity), ...settingsEnv(settings), ...env },
  });
}

/** The same without a repository: `git --version`, `git init PATH`, `git bundle verify`. */
export function plainGit(args: readonly string[], options: GitOptions & { cwd?: string } = {}): Promise<RunResult> {
  const { identity, env, settings = [], ...run } = options;
  return runProgram("git", args, { timeoutMs: 120_000, ...run, env: { ...gitEnv(), ...identityEnv(identity), ...settingsEnv([...settings, ...FIXED]), ...env } });
}

type Setting = readonly [key: string, value: string];

const FIXED: readonly Setting[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.sshCommand", "false"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["core.askPass", ""],
  ["core.gitProxy", ""],
  ["core.alternateRefsCommand", ""],
  ["core.attributesFile", "/dev/null"],
  ["sequence.editor", "false"],
  ["credential.helper", ""],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["gpg.program", "false"],
  ["gpg.ssh.program", "false"],
  ["gpg.x509.program", "false"],
  ["protocol.ext.allow", "never"],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["advice.detachedHead", "false"],
];

/** Keys that can name a program, in sections whose name anyone can choose, so that a fixed list cannot switch them off; and files that may hold more. */
const MAY_NAME_A_PROGRAM = /\[\s*include|\b(?:clean|smudge|process|textconv|command|external|driver|uploadpack|receivepack|vcs|proxy|helper|update|cmd)[ \t]*=/i;
const RUNS_A_PROGRAM =
  /^(?:filter\..+\.(?:clean|smudge|process)|diff\.(?:external|(?:.+\.)?(?:textconv|command))|merge\..+\.driver|remote\..+\.(?:uploadpack|receivepack|vcs|proxy)|credential\..+\.helper|submodule\..+\.update|trailer\..+\.(?:command|cmd))$/i;

async function programsOf(place: GitPlace, signal: AbortSignal | undefined): Promise<Setting[]> {
  const folder = place.commonDir ?? place.gitDir;
  if (![join(folder, "config"), join(place.gitDir, "config.worktree")].some((file) => MAY_NAME_A_PROGRAM.test(textOf(file)))) return [];
  const listed = await runProgram("git", ["config", "--list", "--includes", "--name-only", "-z"], {
    env: { ...gitEnv(), ...placeEnv(place) },
    timeoutMs: 30_000,
    ...(signal === undefined ? {} : { signal }),
  });
  const keys = new Set(listed.stdout.split("\0").filter((key) => RUNS_A_PROGRAM.test(key)));
  return [...keys].flatMap((key): Setting[] => {
    if (!key.startsWith("filter.")) return [[key, ""]];
    // A filter that is required and does nothing would be an error.
    return [[key, ""], [`${key.slice(0, key.lastIndexOf("."))}.required`, "false"]];
  });
}

const DIFFS = new Set(["diff", "diff-tree", "diff-index", "diff-files", "show", "log", "format-patch"]);

/** An empty command in the configuration makes these fail instead of being skipped; nested repositories bring their own configuration. */
function withSafeOptions(args: readonly string[]): readonly string[] {
  const [command, ...rest] = args;
  if (command === undefined) return args;
  if (DIFFS.has(command)) return [command, "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", ...rest];
  return command === "status" ? [command, "--ignore-submodules=all", ...rest] : args;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function gitEnv(): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "/usr/local/bin:/usr/bin:/bin",
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
  };
}

function placeEnv(place: GitPlace): Record<string, string> {
  return {
    GIT_DIR: place.gitDir,
    ...(place.workTree === undefined ? {} : { GIT_WORK_TREE: place.workTree }),
    ...(place.commonDir === undefined ? {} : { GIT_COMMON_DIR: place.commonDir }),
    ...(place.indexFile === undefined ? {} : { GIT_INDEX_FILE: place.indexFile }),
  };
}

function identityEnv(identity: GitOptions["identity"]): Record<string, string> {
  if (identity === undefined) return {};
  return {
    GIT_AUTHOR_NAME: identity.name, GIT_AUTHOR_EMAIL: identity.email, GIT_COMMITTER_NAME: identity.name, GIT_COMMITTER_EMAIL: identity.email,
  };
}

function settingsEnv(settings: readonly Setting[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], i) => [[`GIT_CONFIG_KEY_${i}`, key], [`GIT_CONFIG_VALUE_${i}`, value]]);
  return { GIT_CONFIG_COUNT: String(settings.length), ...Object.fromEntries(pairs) };
}
