import { join } from "node:path";
import { type Env, findPaths, type Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import { nameFault } from "../contract/name.ts";
import { listSessions } from "../session/list-sessions.ts";
import { readSession } from "../session/read-session.ts";

export type ResumableKind = "chat" | "task";

/** What takes a session up again; a session that cannot be read is taken for a chat. */
export async function kindOfSession(paths: Pick<Paths, "project">, id: string): Promise<ResumableKind> {
  if (nameFault(id) !== undefined) return "chat";
  const { session } = await readSession(join(paths.project.sessions, id));
  return session?.metadata.task === undefined ? "chat" : "task";
}

const RECENT = 30;

/** The newest conversation of the project. */
export async function newestChat(cwd: string, env: Env): Promise<string> {
  const { sessions } = await listSessions(findPaths(cwd, env), { limit: RECENT });
  const found = sessions.find((session) => session.metadata.task === undefined);
  if (found === undefined) throw new CruError("not_found", "there is no conversation to go on with here", { hint: "start one with `cru chat`; `cru sessions list` shows all" });
  return found.id;
}
