import { createHash } from "node:crypto";
import { CruError } from "../contract/error.ts";
import { inertLine } from "../lib/inert.ts";
import { listInside, locate, readInside, writeInside } from "../lib/safe-path.ts";
import type { RunResult } from "../lib/subprocess.ts";
import type { Worktree } from "./create-worktree.ts";
import { detectSetup } from "./detect-setup.ts";
import type { Repository } from "./repository.ts";
import { readRecord, writeRecord } from "./worktree-record.ts";

export type SetupInput = {
  /** `auto`, `none`, or shell commands. */
  setup: string | readonly string[];
  /** Files of the main checkout that git does not hold, such as `.env`. */
  copy: readonly string[];
  network: boolean;
};

export type SetupDeps = { repository: Repository; runSandboxed(command: readonly string[]): Promise<Pick<RunResult, "code" | "stdout" | "stderr" | "timedOut" | "notFound">> };

export type SetupResult = {
  /** `unavailable`: it needs the network, or a program that is not there; the worktree can be used, but not everything may work in it. */
  status: "done" | "already" | "nothing" | "unavailable" | "failed";
  ran: string[];
  reason?: string;
  copied: string[];
  /** Files to copy that were not, and why. */
  problems: string[];
};

const MOST_COPY_BYTES = 16 << 20;
const MOST_LOCKFILE_BYTES = 64 << 20;

/** Makes a fresh worktree fit to work in: copies files, then installs what the lockfiles name. Once per worktree and content of the lockfiles. */
export async function setUpWorktree(worktree: Worktree, input: SetupInput, deps: SetupDeps): Promise<SetupResult> {
  const copies = copyFiles(worktree, input.copy, deps.repository);
  const plan = planOf(worktree, input);
  if (plan.length === 0) return { status: "nothing", ran: [], ...copies };
  const key = keyOf(worktree, plan);
  if (readRecord(deps.repository, worktree.slug)?.setup === key) return { status: "already", ran: [], ...copies };
  const ran: string[] = [];
  for (const { shown, command, isOffline } of plan) {
    if (command === undefined) return { status: "unavailable", ran, reason: `${shown} needs the network, which the set-up does not have`, ...copies };
    ran.push(shown);
    const result = await deps.runSandboxed(command);
    if (result.code === 0) continue;
    const why = result.timedOut ? "it took too long" : lastLine(`${result.stdout}\n${result.stderr}`);
    if (isOffline) return { status: "unavailable", ran, reason: `${shown} could not do without the network: ${why}`, ...copies };
    return { status: "failed", ran, reason: `${shown} ended with ${result.code ?? "a signal"}: ${why}`, ...copies };
  }
  amend(worktree, deps.repository, { setup: key });
  return { status: "done", ran, ...copies };
}

type Planned = { shown: string; command: readonly string[] | undefined; isOffline: boolean; lockfile?: string };

function planOf(worktree: Worktree, { setup, network }: SetupInput): Planned[] {
  if (setup === "none") return [];
  if (setup !== "auto") return [setup].flat().map((text) => ({ shown: inertLine(text, 100), command: ["/bin/sh", "-c", text], isOffline: false }));
  const listed = listInside(worktree.path, ".");
  const files = new Set(listed.ok ? listed.entries.filter((entry) => entry.isFile()).map((entry) => entry.name) : []);
  return detectSetup(files).map(({ lockfile, command, offline }) => {
    const chosen = network ? command : offline;
    return { shown: (chosen ?? command).join(" "), command: chosen, isOffline: !network, lockfile };
  });
}

function keyOf(worktree: Worktree, plan: readonly Planned[]): string {
  const hash = createHash("sha256");
  for (const { shown, lockfile } of plan) {
    hash.update(`${shown}\0`);
    const read = lockfile === undefined ? undefined : readInside(worktree.path, lockfile, { maxBytes: MOST_LOCKFILE_BYTES });
    if (read?.ok === true) hash.update(read.bytes);
  }
  return hash.digest("hex").slice(0, 16);
}

/** Never over a file that is there. What was copied is recorded, so that it is never committed. */
function copyFiles(worktree: Worktree, paths: readonly string[], repository: Repository): Pick<SetupResult, "copied" | "problems"> {
  const [copied, problems]: [string[], string[]] = [[], []];
  for (const path of paths) {
    const there = locate(worktree.path, path);
    if (there.ok && there.kind !== "missing") continue;
    const read = readInside(repository.root, path, { maxBytes: MOST_COPY_BYTES });
    if (!read.ok) problems.push(`${path}: ${read.message}`);
    else if (read.size > MOST_COPY_BYTES) problems.push(`${path}: larger than ${MOST_COPY_BYTES >> 20} MiB`);
    else {
      // Recorded first: after a crash in between, it must not look like the agent's work.
      amend(worktree, repository, { copied: [path] });
      const wrote = writeInside(worktree.path, path, read.bytes, { onlyNew: true });
      if (wrote.ok) copied.push(path);
      else problems.push(`${path}: ${wrote.message}`);
    }
  }
  return { copied, problems };
}

function amend(worktree: Worktree, repository: Repository, change: { setup?: string; copied?: readonly string[] }): void {
  const record = readRecord(repository, worktree.slug);
  if (record === undefined) throw new CruError("failed", `the record of ${worktree.branch} is gone`, { hint: "open the worktree again" });
  writeRecord(repository, worktree.slug, { ...record, setup: change.setup ?? record.setup, copied: [...new Set([...record.copied, ...(change.copied ?? [])])] });
}

function lastLine(text: string): string {
  return inertLine(text.trim().split("\n").at(-1) ?? "", 200);
}
