import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Ask, Outcome } from "../../contract/runner.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { checkoutChanges, checkoutTree } from "../../worktree/in-place.ts";
import type { Repository } from "../../worktree/repository.ts";
import { askOf, type Attempt } from "./attempt.ts";
import type { Workplace } from "./workplace.ts";

const MOST_DIFF = 1 << 20;

/** The user's own checkout. What it was before is kept as a tree, so that everything can be brought back. */
export async function openOwnCheckout(repository: Repository, stateFolder: string): Promise<Workplace> {
  const base = await baseline(repository, join(stateFolder, "before"));
  return {
    path: repository.root,
    branch: null,
    base,
    binds: [],
    ownGit: false,
    async secure() {
      return { commit: null, ...(await checkoutChanges(base, repository, { maxBytes: MOST_DIFF })), warnings: [] };
    },
  };
}

/** Nobody's files are changed in place without a word. */
function confirmInPlace(ask: Ask, repository: Repository): ReturnType<Ask> {
  return ask({
    key: "in-place",
    kind: "approval",
    title: "work in your own checkout, without a worktree",
    body: `The agent changes the files in ${repository.root} while you see them. Nothing is committed. What they are now is kept in git's objects, and the end says how to bring it back.`,
    options: ["approve", "deny"],
    reversible: true,
    action: { tool: "in_place", input: { folder: repository.root } },
    reason: "--in-place was given",
    impact: "changes files of your checkout",
  });
}

/** Taken once: who goes on after a kill compares with what was there at the very beginning. */
async function baseline(repository: Repository, file: string): Promise<string> {
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  const tree = await checkoutTree(repository);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  atomicWrite(file, `${tree}\n`, { mode: 0o600 });
  return tree;
}

/** Undefined: go on. */
export async function confirmed(at: Attempt): Promise<Outcome | undefined> {
  const asked = await confirmInPlace(askOf(at), at.prepared.repository);
  if (asked.kind === "answered" && asked.answer.decision === "approve") return undefined;
  const nothing = { text: "", output: null, tokens: { input: 0, output: 0 }, costUsd: 0, costEstimated: false, denials: [] };
  if (at.signal.aborted) return { ...nothing, status: "cancelled", reason: "cancelled", error: null };
  if (asked.kind === "suspended") return { ...nothing, status: "blocked", reason: "suspended", inboxId: asked.inboxId, error: null };
  return { ...nothing, status: "denied", reason: "denied", error: { type: "denied", message: "working in your own checkout was refused" } };
}
