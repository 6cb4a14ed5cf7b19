import { join } from "node:path";
import type { Paths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { findSession } from "../../session/list-sessions.ts";
import { readSession } from "../../session/read-session.ts";

/** A chat goes on with chats. Asked before anything is written: what another command left stays as it is. */
export async function refuseForeignSession(wanted: string, paths: Paths): Promise<void> {
  const id = findSession(paths, wanted);
  const { session } = await readSession(join(paths.project.sessions, id));
  if (session === undefined) return;
  const { task, runner } = session.metadata;
  if (task !== undefined) throw new CruError("usage", `${id} is a task`, { hint: `go on with \`cru task --resume ${id}\`` });
  if (runner === "mcp") throw new CruError("usage", `${id} was a client of \`cru mcp\`: its conversation is in that program`, { hint: `\`cru sessions show ${id}\` shows what it did here` });
}
