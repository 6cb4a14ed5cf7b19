import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { CruError } from "../contract/error.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { safeName } from "../lib/slug.ts";
import { recordsFolder, type Repository } from "./repository.ts";

const MOST_SLUG = 40;

const recordSchema = z.object({
  schema: z.literal(1),
  bead: z.string(),
  branch: z.string(),
  /** The commit that the work started from. */
  base: z.string().regex(/^[0-9a-f]{40,64}$/),
  created_at: z.string(),
  /** Files that were brought from the main checkout; never committed. */
  copied: z.array(z.string()).default([]),
  /** The lockfiles for which the set-up ran, by hash. */
  setup: z.string().nullable().default(null),
});

/** Written before anything else is made, so that whatever a crash leaves behind can be finished. */
export type WorktreeRecord = z.infer<typeof recordSchema>;

export function slugOf(bead: string): string {
  return safeName(bead, MOST_SLUG);
}

export function branchOf(slug: string): string {
  return `cru/${slug}`;
}

export function branchRef(slug: string): string {
  return `refs/heads/${branchOf(slug)}`;
}

export function recordFile(repository: Pick<Repository, "worktrees">, slug: string, ending: "json" | "lock" | "index" = "json"): string {
  return join(recordsFolder(repository.worktrees), `${slug}.${ending}`);
}

export function readRecord(repository: Pick<Repository, "worktrees">, slug: string): WorktreeRecord | undefined {
  const path = recordFile(repository, slug);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new CruError("unsupported", `${path} cannot be read`, { hint: "when it is damaged, delete it: the branch and the files are kept, and the base is found again", cause });
  }
}

export function writeRecord(repository: Pick<Repository, "worktrees">, slug: string, record: WorktreeRecord): void {
  atomicWrite(recordFile(repository, slug), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
}

export function removeRecord(repository: Pick<Repository, "worktrees">, slug: string): void {
  for (const ending of ["json", "index"] as const) rmSync(recordFile(repository, slug, ending), { force: true });
}
