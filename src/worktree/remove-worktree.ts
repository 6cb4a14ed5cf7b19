import { randomBytes } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { CruError } from "../contract/error.ts";
import { inertLine } from "../lib/inert.ts";
import { withLock } from "../lib/with-lock.ts";
import { commitAll } from "./commit-all.ts";
import { tipOf, type Worktree } from "./create-worktree.ts";
import { forget, registrationAt } from "./registration.ts";
import { outputOf, type Repository, treeGit } from "./repository.ts";
import { takeSnapshot } from "./snapshot.ts";
import { branchRef, recordFile, removeRecord } from "./worktree-record.ts";

export type RemoveResult = { branch: "kept" | "deleted"; tip: string };

/**
 * Removes the folder, never work: what is not committed is committed first or is a reason to refuse, and the branch stays when it holds more than
 * its base. Files that git ignores are not work.
 */
export async function removeWorktree(worktree: Worktree, options: { uncommitted: "refuse" | "commit" }, repository: Repository): Promise<RemoveResult> {
  return withLock(recordFile(repository, worktree.slug, "lock"), `the worktree of ${inertLine(worktree.bead)}`, async () => {
    await secure(worktree, options.uncommitted, repository);
    return repository.alone(async () => {
      const registration = registrationAt(repository, worktree.path);
      if (registration?.isLocked === true) throw new CruError("failed", `${worktree.path} is locked`, { hint: `git worktree unlock '${worktree.path}'` });
      const doomed = join(repository.worktrees, `.removed-${worktree.slug}-${randomBytes(4).toString("hex")}`);
      renameSync(worktree.path, doomed);
      if (registration !== undefined) forget(registration);
      rmSync(doomed, { recursive: true, force: true, maxRetries: 3 });
      return dropEmptyBranch(worktree.slug, worktree.base, repository);
    });
  });
}

/** Deletes a branch that holds nothing beyond its base, and the record with it. */
export async function dropEmptyBranch(slug: string, base: string, repository: Repository): Promise<RemoveResult> {
  const tip = await tipOf(slug, repository);
  if (tip !== undefined && tip !== base) return { branch: "kept", tip };
  if (tip !== undefined) outputOf(await treeGit(repository, {}, ["update-ref", "-d", branchRef(slug), tip]), "deleting an empty branch");
  removeRecord(repository, slug);
  return { branch: "deleted", tip: base };
}

async function secure(worktree: Worktree, uncommitted: "refuse" | "commit", repository: Repository): Promise<void> {
  if (uncommitted === "commit") {
    const { left } = await commitAll(worktree, { subject: `Uncommitted work on ${worktree.bead}` }, repository);
    refuseLeft(worktree, left);
    return;
  }
  const { tip, tree, left } = await takeSnapshot(worktree, repository);
  refuseLeft(worktree, left);
  const committed = outputOf(await treeGit(repository, {}, ["rev-parse", "--verify", `${tip}^{tree}`]), `reading ${worktree.branch}`);
  if (committed !== tree) throw new CruError("needs_person", `${worktree.path} holds work that is not committed`, { hint: "commit it, or discard it yourself" });
}

function refuseLeft(worktree: Worktree, left: readonly string[]): void {
  if (left.length === 0) return;
  const named = left.slice(0, 3).map((one) => inertLine(one, 100)).join(", ");
  throw new CruError("needs_person", `${worktree.path} holds what no commit can keep: ${named}${left.length > 3 ? ", …" : ""}`, { hint: "move it away or delete it, then try again" });
}
