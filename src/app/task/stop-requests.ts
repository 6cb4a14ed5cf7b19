import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Paths } from "../../config/paths.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { ignoredFolder } from "../../lib/ignored-folder.ts";
import { slugOf } from "../../worktree/worktree-record.ts";

const LOOK_MS = 300;

type Place = Pick<Paths, "root" | "project">;

/** Asks whoever works on the bead to stop. */
export function requestStop(paths: Place, beadId: string): void {
  ignoredFolder(paths.root, paths.project.requests);
  atomicWrite(stopFile(paths, beadId), `${JSON.stringify({ v: 1, bead_id: beadId, request: "stop" })}\n`, { mode: 0o600 });
}

/** Calls `onStop` once, within a second after somebody asked; an earlier request for work that has ended is void. */
export function watchForStop(paths: Place, beadId: string, onStop: () => void): { close(): void } {
  const file = stopFile(paths, beadId);
  rmSync(file, { force: true });
  const timer = setInterval(() => {
    if (!existsSync(file)) return;
    clearInterval(timer);
    rmSync(file, { force: true });
    onStop();
  }, LOOK_MS);
  timer.unref();
  return {
    close() {
      clearInterval(timer);
      rmSync(file, { force: true });
    },
  };
}

/** Held while somebody works on the bead; the kernel frees it with its owner. */
export function taskLockFile(paths: Place, beadId: string): string {
  return join(paths.project.requests, `task-${slugOf(beadId)}.lock`);
}

function stopFile(paths: Place, beadId: string): string {
  return join(paths.project.requests, `stop-${slugOf(beadId)}.json`);
}
