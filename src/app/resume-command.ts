import { join } from "node:path";
import type { Paths } from "../config/paths.ts";
import { nameFault } from "../contract/name.ts";
import { readSession } from "../session/read-session.ts";

export type ResumableKind = "chat" | "task";

/** What takes a session up again; a session that cannot be read is taken for a chat. */
export async function kindOfSession(paths: Pick<Paths, "project">, id: string): Promise<ResumableKind> {
  if (nameFault(id) !== undefined) return "chat";
  const { session } = await readSession(join(paths.project.sessions, id));
  return session?.metadata.task === undefined ? "chat" : "task";
}
