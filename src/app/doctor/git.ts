import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { RunResult } from "../../lib/subprocess.ts";
import { type Check, type DoctorDeps, type DoctorInput, type Finding, finding, isBelow, plainEnv, versionIn } from "./check.ts";

const LEAST = [2, 38, 0];

/** The program, then the repository: every state in which worktrees or merges behave differently has its own line. */
export const gitCheck: Check = {
  id: "git",
  async look(input, deps) {
    const program = await gitProgram(input, deps);
    return program.status === "ok" ? [program, ...(await repository(input, deps))] : [program];
  },
};

async function gitProgram(input: DoctorInput, deps: DoctorDeps): Promise<Finding> {
  const run = await deps.run("git", ["--version"], { env: plainEnv(input.env), cwd: "/", timeoutMs: 10_000 });
  const fix = "install git 2.38 or newer (Debian, Ubuntu: apt install git; macOS: brew install git)";
  if (run.failure !== null) return finding("git", "fail", run.notFound ? "git was not found on PATH" : run.failure.message, fix);
  const version = versionIn(run.stdout);
  if (run.code !== 0 || version === undefined) return finding("git", "fail", "`git --version` gives no version", fix);
  if (isBelow(version, LEAST)) return finding("git", "fail", `git ${version.join(".")} is too old: merges need \`git merge-tree --write-tree\``, fix);
  return finding("git", "ok", `git ${version.join(".")}`);
}

async function repository(input: DoctorInput, deps: DoctorDeps): Promise<Finding[]> {
  const { root, gitDir } = input.paths;
  if (gitDir === undefined) return [finding("repository", "warn", "no git repository here: chat and notes work, `cru task` does not", await firstCommit("git init, then ", input, deps))];
  const git = (...args: string[]): Promise<RunResult> =>
    deps.run("git", ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", root, ...args], { env: plainEnv(input.env), cwd: "/", timeoutMs: 10_000 });
  const inside = await git("rev-parse", "--is-bare-repository", "--is-shallow-repository");
  if (inside.code !== 0) return [unreadable(inside.stderr, root)];
  const [bare, shallow] = inside.stdout.split("\n");
  if (bare === "true") return [finding("repository", "warn", "a bare repository has no files to work on", "run cru in a checkout: git clone")];
  const [head, branch] = await Promise.all([git("rev-parse", "--verify", "-q", "HEAD^{commit}"), git("symbolic-ref", "-q", "--short", "HEAD")]);
  const found: Finding[] = [];
  const name = branch.stdout.trim();
  if (head.code !== 0) found.push(finding("repository", "warn", `branch ${name} has no commit yet, so no worktree can start from it`, await firstCommit("", input, deps)));
  else if (branch.code !== 0) found.push(finding("repository", "warn", "HEAD is detached: merges have no branch to go to", "git switch BRANCH, or set merge.target"));
  else found.push(finding("repository", "ok", `on branch ${name}`));
  if (shallow === "true") found.push(finding("repository.shallow", "warn", "a shallow clone: older history is missing, so some merges cannot be built", "git fetch --unshallow"));
  if (existsSync(join(root, ".gitmodules"))) found.push(finding("repository.submodules", "warn", "submodules are not filled in agents' worktrees", "add `git submodule update --init` to worktrees.setup if agents need them"));
  if (usesLfs(root)) found.push(finding("repository.lfs", "info", "Git LFS: agents see pointer files where the content was not fetched", "git lfs pull, if agents need the content"));
  return found;
}

/** Who git does not know cannot commit. */
async function firstCommit(before: string, input: DoctorInput, deps: DoctorDeps): Promise<string> {
  const known = await deps.run("git", ["-C", input.paths.root, "config", "--get", "user.email"], { env: plainEnv(input.env), cwd: "/", timeoutMs: 10_000 });
  const commit = "git add -A && git commit -m 'first commit'";
  return known.code === 0 ? `${before}${commit}` : `${before}tell git who you are (git config --global user.name 'NAME', git config --global user.email 'ADDRESS'), then ${commit}`;
}

function unreadable(stderr: string, root: string): Finding {
  if (/dubious ownership/.test(stderr)) return finding("repository", "warn", "git does not trust this folder: it belongs to another user", `git config --global --add safe.directory '${root}', if you trust its owner`);
  return finding("repository", "warn", `git cannot read this repository: ${stderr.trim().split("\n")[0] ?? ""}`, "git status says more");
}

function usesLfs(root: string): boolean {
  try {
    return /\bfilter=lfs\b/.test(readFileSync(join(root, ".gitattributes"), "utf8"));
  } catch {
    return false;
  }
}
