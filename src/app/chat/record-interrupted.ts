import { listSessions } from "../../session/list-sessions.ts";
import type { SessionDeps } from "../../session/open-session.ts";
import { recordIfInterrupted } from "../../session/record-if-interrupted.ts";

const RECENT = 3;

/** Whoever may write puts down what a killed process could not. */
export async function recordInterrupted(deps: SessionDeps): Promise<void> {
  const { sessions } = await listSessions(deps.paths, { limit: RECENT });
  for (const session of sessions) if (session.status === "interrupted") await recordIfInterrupted(session.id, deps);
}
