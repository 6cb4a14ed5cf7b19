import { existsSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { CruError } from "../contract/error.ts";

/** The only file that knows where things are. */
export type Env = Record<string, string | undefined>;

export type Paths = {
  /** The project, always the main checkout. */
  root: string;
  /** Folder of git's own files, undefined outside a repository. */
  gitDir: string | undefined;
  project: {
    agents: string;
    config: string;
    sessions: string;
    inbox: string;
    cache: string;
    claudeAgents: string;
    mcp: string;
    grimoires: string;
    spells: string;
    prompts: string;
    systemPrompt: string;
    logs: string;
    worktrees: string;
    requests: string;
    beads: string;
  };
  user: { agents: string; config: string; claudeAgents: string; state: string; trust: string; aside: string; cache: string };
  builtin: { agents: string; grimoires: string; spells: string; systemPrompt: string; wordVectors: string };
};

export function findPaths(cwd: string, env: Env): Paths {
  const home = homeFolder(env);
  const { root, gitDir } = findRoot(realpathSync.native(cwd), home);
  const crucible = join(root, ".crucible");
  const coven = join(root, ".coven");
  const builtin = join(packageRoot(), "builtin");
  const state = join(xdg(env, "XDG_STATE_HOME", join(home, ".local", "state")), "crucible");
  const config = join(xdg(env, "XDG_CONFIG_HOME", join(home, ".config")), "crucible");
  return {
    root,
    gitDir,
    project: {
      agents: join(crucible, "agents"),
      config: join(crucible, "config.yaml"),
      sessions: join(crucible, "sessions"),
      inbox: join(crucible, "inbox"),
      cache: join(crucible, "cache"),
      claudeAgents: join(root, ".claude", "agents"),
      mcp: join(root, ".mcp.json"),
      grimoires: join(coven, "grimoires"),
      spells: join(coven, "spells"),
      prompts: join(coven, "prompts"),
      systemPrompt: join(coven, "system-prompt.md"),
      logs: join(coven, "logs"),
      worktrees: join(coven, "worktrees"),
      requests: join(coven, "requests"),
      beads: join(root, ".beads"),
    },
    user: {
      agents: join(config, "agents"),
      config: join(config, "config.yaml"),
      claudeAgents: join(home, ".claude", "agents"),
      state,
      trust: join(state, "trust"),
      aside: join(state, "aside"),
      cache: join(xdg(env, "XDG_CACHE_HOME", join(home, ".cache")), "crucible"),
    },
    builtin: { agents: join(builtin, "agents"), grimoires: join(builtin, "grimoires"), spells: join(builtin, "spells"), systemPrompt: join(builtin, "system-prompt.md"), wordVectors: join(packageRoot(), "assets", "word-vectors", "words.bin") },
  };
}

/** The folder of this package, whether it runs from `dist/` or from the sources. */
export function packageRoot(): string {
  const here = import.meta.dirname;
  // Nothing further up is ours.
  const root = [dirname(here), dirname(dirname(here))].find((folder) => existsSync(join(folder, "builtin")));
  if (root === undefined) throw new CruError("failed", `cru is not installed completely: its folder 'builtin' is not beside ${here}`, { hint: "install it again" });
  return root;
}

export function homeFolder(env: Env): string {
  const home = env.HOME !== undefined && env.HOME !== "" ? env.HOME : process.getBuiltinModule("node:os").homedir();
  return existsSync(home) ? realpathSync.native(home) : home;
}

/** A relative value is invalid by the XDG rules and is ignored. */
function xdg(env: Env, name: string, fallback: string): string {
  const value = env[name];
  return value?.startsWith("/") ? value : fallback;
}

function findRoot(cwd: string, home: string): { root: string; gitDir: string | undefined } {
  const git = findGit(cwd);
  // Inside a linked worktree everything belongs to the main checkout.
  if (git?.main !== undefined && git.main !== home) return { root: git.main, gitDir: git.gitDir };
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (folder === home) break;
    if (isFolder(join(folder, ".crucible")) || isFolder(join(folder, ".coven"))) return { root: folder, gitDir: git?.gitDir };
    if (folder === git?.top || folder === dirname(folder)) break;
  }
  const root = git !== undefined && git.top !== home ? git.top : cwd;
  return { root, gitDir: git?.gitDir };
}

type Git = { top: string; gitDir: string; main: string | undefined };

/** Reads git's files instead of starting git: this runs on every start. */
function findGit(cwd: string): Git | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const dotGit = join(folder, ".git");
    const found = stat(dotGit);
    if (found?.isDirectory() === true) return { top: folder, gitDir: dotGit, main: undefined };
    if (found?.isFile() === true) return linked(folder, dotGit);
    if (folder === dirname(folder)) return undefined;
  }
}

function linked(top: string, dotGit: string): Git {
  const target = /^gitdir: (.+)$/m.exec(readFileSync(dotGit, "utf8"))?.[1]?.trim();
  const gitDir = target === undefined ? dotGit : resolve(top, target);
  const common = firstLine(join(gitDir, "commondir"));
  if (common === undefined) return { top, gitDir, main: undefined };
  const commonDir = resolve(gitDir, common);
  if (!pointsBack(gitDir, commonDir, dotGit)) return { top, gitDir, main: undefined };
  return { top, gitDir: commonDir, main: basename(commonDir) === ".git" ? dirname(commonDir) : undefined };
}

/** A worktree belongs to a repository only if that repository says so: a folder from elsewhere cannot pass itself off as part of another project. */
function pointsBack(gitDir: string, commonDir: string, dotGit: string): boolean {
  const back = firstLine(join(gitDir, "gitdir"));
  if (back === undefined) return false;
  try {
    return dirname(realpathSync(gitDir)) === join(realpathSync(commonDir), "worktrees") && realpathSync(resolve(gitDir, back)) === realpathSync(dotGit);
  } catch {
    return false;
  }
}

function firstLine(path: string): string | undefined {
  return stat(path)?.isFile() === true ? readFileSync(path, "utf8").split("\n")[0]?.trim() : undefined;
}

function isFolder(path: string): boolean {
  return stat(path)?.isDirectory() === true;
}

/** What cannot be looked at (no right, a file on the way, links in a circle) is not there for us. */
function stat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
