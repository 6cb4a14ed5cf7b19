import { homeFolder, type Env, type Paths } from "../../config/paths.ts";
import type { Bead } from "../../contract/bead.ts";
import type { RunBind } from "../../contract/runner.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { inertLine } from "../../lib/inert.ts";
import { runSandboxed } from "../../sandbox/run-sandboxed.ts";
import { type ChangedFile, changesOf } from "../../worktree/changes.ts";
import { commitAll } from "../../worktree/commit-all.ts";
import { createWorktree, type Worktree } from "../../worktree/create-worktree.ts";
import { openPrivateGit } from "../../worktree/private-git.ts";
import type { Repository } from "../../worktree/repository.ts";
import { setUpWorktree } from "../../worktree/set-up-worktree.ts";
import { setUpRunner } from "../set-up-runner.ts";

/** Where an agent works on a bead, and what becomes of its work. */
export type Workplace = {
  path: string;
  /** Null: in the user's own checkout. */
  branch: string | null;
  /** The commit that the work started from. */
  base: string;
  binds: readonly RunBind[];
  /** The agent has a git folder of its own inside its sandbox. */
  ownGit: boolean;
  /** After the agent has ended, however it did: takes its commits over and commits the rest. */
  secure(message: { subject: string; session: string }): Promise<Work>;
};

/** What is there now, from git. */
export type Work = {
  /** The branch's tip; null in place, where nothing is committed. */
  commit: string | null;
  files: ChangedFile[];
  diff: string;
  truncated: boolean;
  warnings: string[];
};

export type WorkplaceDeps = { repository: Repository; settings: Settings; paths: Paths; env: Env; warn(message: string): void; say(text: string): void };

const MOST_DIFF = 1 << 20;

/** The bead's worktree on its branch, set up, with a private git folder where a sandbox holds the agent. */
export async function openWorktreePlace(bead: Bead, deps: WorkplaceDeps): Promise<Workplace> {
  const { repository, settings, paths, env } = deps;
  const worktree = await createWorktree({ bead: bead.id, base: settings.worktrees.base }, repository);
  const home = homeFolder(env);
  const { mode } = settings.sandbox;
  await setUp(worktree, deps);
  const own = await openPrivateGit({ worktree, stateFolder: paths.user.state, sandboxed: mode === "required" }, repository);
  return {
    path: worktree.path,
    branch: worktree.branch,
    base: worktree.base,
    binds: own?.binds ?? [],
    ownGit: own !== undefined,
    async secure({ subject, session }) {
      const warnings: string[] = [];
      const taken = await own?.importCommits((command, options) => runSandboxed({ workspace: worktree.path, writable: true, home, binds: own.binds }, command, { mode, ...options }));
      if (taken?.status === "refused") warnings.push(`the agent's own commits were not taken over (${inertLine(taken.reason, 200)}); its files are committed as they are`);
      if (taken?.status === "rewritten") warnings.push(`the agent rewrote history; its commits are kept in ${taken.ref}, its files are committed to ${worktree.branch}`);
      const { commit, left } = await commitAll(worktree, { subject, session }, repository);
      if (left.length > 0) warnings.push(`not committed: ${left.slice(0, 5).map((one) => inertLine(one, 120)).join(", ")}`);
      const { files, diff, truncated } = await changesOf(worktree, repository, { maxBytes: MOST_DIFF });
      return { commit, files, diff, truncated, warnings };
    },
  };
}

async function setUp(worktree: Worktree, { repository, settings, paths, env, warn, say }: WorkplaceDeps): Promise<void> {
  const { setup, copy } = settings.worktrees;
  const runInside = setUpRunner(worktree.path, { paths, settings, env, warn });
  const run: typeof runInside = (command) => {
    say(`setting up: ${inertLine(command.join(" "), 120)}`);
    return runInside(command);
  };
  const done = await setUpWorktree(worktree, { setup, copy, network: true }, { repository, runSandboxed: run });
  for (const problem of done.problems) warn(`not copied into the worktree: ${problem}`);
  if (done.status === "unavailable" || done.status === "failed") warn(`the worktree is not fully set up: ${done.reason ?? ""}`);
}
