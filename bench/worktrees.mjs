// 100 worktrees at once: what counts is that none fails and nothing is left half done. Plain git does the same beside it.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { environment, repository } from "./workloads.mjs";

const COUNT = 100;

export async function printWorktrees() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "cru-bench-")));
  try {
    console.log(`\n${COUNT} worktrees at once`);
    const ours = await cruWorktrees(makeProject(base, "ours"), base);
    const verdict = ours.failures === 0 && ours.orphans === 0 ? "PASS" : "over";
    console.log(`  cru        ${ours.failures} failures, ${ours.orphans} orphans  ${Math.round(ours.ms)} ms  ${verdict}`);
    const plain = await plainWorktrees(makeProject(base, "plain"), base);
    console.log(`  plain git  ${plain.failures} failures, ${plain.orphans} orphans  ${Math.round(plain.ms)} ms`);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

/** A clone, so that its branches have something to track; 200 files. */
function makeProject(base, name) {
  const [origin, root] = [join(base, `${name}-origin`), join(base, name)];
  mkdirSync(origin);
  for (let i = 0; i < 200; i++) writeFileSync(join(origin, `file-${i}.txt`), `${i}\n`.repeat(50));
  git(base, origin, "init", "-q", "-b", "main");
  git(base, origin, "add", "-A");
  git(base, origin, "commit", "-qm", "first");
  git(base, base, "clone", "-q", origin, root);
  return root;
}

async function cruWorktrees(root, base) {
  const outfile = join(base, "worktrees.mjs");
  const source = `
    import { createWorktree } from "${repository}/src/worktree/create-worktree.ts";
    import { listOrphans } from "${repository}/src/worktree/orphans.ts";
    import { openRepository } from "${repository}/src/worktree/repository.ts";
    const root = process.argv[2];
    const opened = await openRepository({ root, gitDir: root + "/.git", worktrees: root + "/.coven/worktrees", env: process.env });
    const start = performance.now();
    const made = await Promise.allSettled(Array.from({ length: ${COUNT} }, (_, i) => createWorktree({ bead: "b-" + i }, opened)));
    const ms = performance.now() - start;
    console.log(JSON.stringify({ failures: made.filter((m) => m.status === "rejected").length, orphans: (await listOrphans(opened)).length, ms }));
  `;
  const libsql = { name: "libsql", setup: (b) => b.onResolve({ filter: /^libsql$/ }, () => ({ path: join(repository, "node_modules/libsql/index.js"), external: true })) };
  await build({ stdin: { contents: source, resolveDir: repository, loader: "ts" }, outfile, bundle: true, format: "esm", platform: "node", target: "node20", plugins: [libsql] });
  const { stdout, stderr } = spawnSync(process.execPath, [outfile, root], { env: gitEnvironment(base), encoding: "utf8", timeout: 300_000 });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout);
}

async function plainWorktrees(root, base) {
  const start = performance.now();
  const codes = await Promise.all(Array.from({ length: COUNT }, (_, i) => {
    const child = spawn("git", ["worktree", "add", "-q", "-b", `cru/b-${i}`, join(root, ".coven", `b-${i}`), "origin/main"], { cwd: root, env: gitEnvironment(base), stdio: "ignore" });
    return new Promise((done) => child.on("close", done));
  }));
  const ms = performance.now() - start;
  const lines = (...args) => git(base, root, ...args).split("\n").filter((line) => line !== "").length;
  return { failures: codes.filter((code) => code !== 0).length, orphans: lines("branch", "--list", "cru/*") - (lines("worktree", "list") - 1), ms };
}

function git(base, cwd, ...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd, env: gitEnvironment(base), encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

function gitEnvironment(base) {
  const who = { NAME: "Bench", EMAIL: "bench@example.invalid" };
  return { ...environment(base), GIT_CONFIG_NOSYSTEM: "1", ...Object.fromEntries(["AUTHOR", "COMMITTER"].flatMap((role) => Object.entries(who).map(([k, v]) => [`GIT_${role}_${k}`, v]))) };
}
