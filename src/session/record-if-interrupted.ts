import { existsSync } from "node:fs";
import { join } from "node:path";
import { nameFault } from "../contract/name.ts";
import type { SessionDeps } from "./open-session.ts";
import { readSession } from "./read-session.ts";

/** Readers only show that a session was interrupted; a command that may write records it. The lock is loaded only when there is something to record. */
export async function recordIfInterrupted(id: string, deps: SessionDeps): Promise<void> {
  const folder = join(deps.paths.project.sessions, id);
  if (nameFault(id) !== undefined || !existsSync(folder)) return;
  const { session } = await readSession(folder);
  if (session?.status !== "interrupted" || session.metadata.status === "interrupted") return;
  const { recordInterruption } = await import("./open-session.ts");
  await recordInterruption(id, deps);
}
