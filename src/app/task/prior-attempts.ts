import type { Paths } from "../../config/paths.ts";
import { type InboxDeps, withdrawQuestion } from "../../inbox/answer-question.ts";
import { readQuestion } from "../../inbox/question-file.ts";
import { inertLine } from "../../lib/inert.ts";
import { listSessions } from "../../session/list-sessions.ts";
import type { ReadSession } from "../../session/read-session.ts";

const LOOKED_AT = 300;
const MOST = 5;
const MOST_FILES = 20;

/** Earlier sessions of a bead, newest first. */
export async function sessionsOf(beadId: string, paths: Paths): Promise<ReadSession[]> {
  const { sessions } = await listSessions(paths, { limit: LOOKED_AT });
  return sessions.filter((session) => session.metadata.task?.bead_id === beadId);
}

/** Who starts anew no longer needs the answers that earlier attempts wait for. */
export function withdrawQuestions(sessions: readonly ReadSession[], deps: InboxDeps): void {
  for (const { id } of sessions.flatMap((session) => session.metadata.waiting)) {
    const question = readQuestion(deps.paths.project.inbox, id);
    if (question !== undefined) withdrawQuestion(question, "the task was started anew", deps);
  }
}

/** What came of earlier attempts, for the next agent; empty when there were none. Bounded, newest first. */
export function describeAttempts(sessions: readonly ReadSession[]): string {
  const told = sessions.slice(0, MOST).map(describe);
  if (sessions.length > MOST) told.push(`${sessions.length - MOST} earlier ones are left out.`);
  return told.join("\n\n");
}

function describe({ status, metadata }: ReadSession): string {
  const { task } = metadata;
  const files = task?.changed_files ?? [];
  const shown = files.slice(0, MOST_FILES).map((file) => inertLine(file, 200)).join(", ");
  return [
    `### ${metadata.started_at.slice(0, 16).replace("T", " ")}: ${status}`,
    ...(typeof task?.reason === "string" && task.reason !== "" ? [`It ended because: ${inertLine(task.reason, 1000)}`] : status === "interrupted" ? ["It was cut short."] : []),
    ...(task?.summary === undefined || task.summary === "" ? [] : [`Its own words: ${inertLine(task.summary, 2000)}`]),
    ...(files.length === 0 ? [] : [`Files changed on the branch by then: ${shown}${files.length > MOST_FILES ? `, and ${files.length - MOST_FILES} more` : ""}`]),
  ].join("\n");
}
