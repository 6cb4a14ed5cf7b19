import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openRepository, type Repository } from "../../src/worktree/repository.ts";
import { temporaryFolder, writeFiles } from "./temp.ts";

export type TestRepository = {
  root: string;
  home: string;
  gitDir: string;
  worktrees: string;
  /** As a user types it, in the main checkout. */
  git(...args: string[]): string;
  open(): Promise<Repository>;
};

/** A repository with one commit, and a home without any git settings. */
export function testRepository(files: Record<string, string | Uint8Array> = { "a.txt": "one\n" }, init: string[] = []): TestRepository {
  const base = temporaryFolder();
  const [home, root] = [join(base, "home"), join(base, "project")];
  mkdirSync(home);
  mkdirSync(root);
  const git = (...args: string[]): string =>
    execFileSync("git", args, {
      cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1", GIT_AUTHOR_NAME: "T", GIT_AUTHOR_EMAIL: "t@example.invalid", GIT_COMMITTER_NAME: "T", GIT_COMMITTER_EMAIL: "t@example.invalid" },
    });
  git("init", "-q", "-b", "main", ...init);
  writeFiles(root, files);
  git("add", "-A");
  git("commit", "-q", "--allow-empty", "-m", "first");
  const [gitDir, worktrees] = [join(root, ".git"), join(root, ".coven", "worktrees")];
  return { root, home, gitDir, worktrees, git, open: () => openRepository({ root, gitDir, worktrees, env: { PATH: process.env.PATH, HOME: home } }) };
}
