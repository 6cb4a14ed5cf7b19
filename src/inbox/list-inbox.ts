import { statSync } from "node:fs";
import type { Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import type { Problem } from "../contract/problem.ts";
import type { Answer, InboxStatus, Question } from "../contract/question.ts";
import { nearest } from "../lib/nearest.ts";
import { isAlive } from "../lib/owner.ts";
import { readTalk, type Talk } from "./follow-up.ts";
import { isRevoked } from "./revoke.ts";
import { answerFile, inboxIds, questionFile, readAnswer, readQuestion, readWait } from "./question-file.ts";

export type InboxItem = {
  question: Question;
  answer: Answer | undefined;
  status: InboxStatus;
  /** A live process waits for the answer and goes on by itself. */
  awaited: boolean;
  timeLeftMs: number | null;
  /** What the person asked about it, and what the agent said. */
  talk: Talk[];
  /** What was allowed for the session was taken back. */
  revoked: boolean;
};

const CLOSED_SHOWN = 50;

/** What waits, oldest first, then what was closed last. A file that cannot be read is a problem, never the end of the list. */
export async function listInbox(paths: Pick<Paths, "project">, options: { closed?: number } = {}): Promise<{ items: InboxItem[]; problems: Problem[] }> {
  const folder = paths.project.inbox;
  const { ids, closed } = inboxIds(folder);
  const ended = ids
    .filter((id) => closed.has(id))
    .map((id) => ({ id, at: statSync(answerFile(folder, id), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1))
    .slice(0, options.closed ?? CLOSED_SHOWN);
  const problems: Problem[] = [];
  const read = async (id: string): Promise<InboxItem[]> => {
    const item = await readItem(paths, id);
    if (item === undefined) problems.push(unreadable(questionFile(folder, id)));
    return item === undefined ? [] : [item];
  };
  const pending: InboxItem[] = [];
  for (const id of ids) if (!closed.has(id)) pending.push(...(await read(id)));
  pending.sort((a, b) => (a.question.created_at < b.question.created_at ? -1 : 1));
  const items = [...pending];
  for (const { id } of ended) items.push(...(await read(id)));
  return { items, problems };
}

export async function readItem(paths: Pick<Paths, "project">, id: string): Promise<InboxItem | undefined> {
  const folder = paths.project.inbox;
  const question = readQuestion(folder, id);
  if (question === undefined || question.id !== id) return undefined;
  const answer = readAnswer(folder, id);
  const wait = readWait(folder, id);
  const owner = wait?.owner ?? null;
  return {
    question,
    answer,
    status: answer?.status ?? "pending",
    awaited: answer === undefined && owner !== null && (await isAlive(owner)),
    talk: readTalk(folder, id),
    revoked: isRevoked(folder, id),
    timeLeftMs: wait === undefined ? question.time_left_ms : wait.time_left_ms,
  };
}

/** A question by its id or the start of it. */
export function findQuestion(paths: Pick<Paths, "project">, idOrPrefix: string): string {
  const { ids } = inboxIds(paths.project.inbox);
  if (ids.includes(idOrPrefix)) return idOrPrefix;
  const matching = idOrPrefix === "" ? [] : ids.filter((id) => id.startsWith(idOrPrefix));
  if (matching.length === 1 && matching[0] !== undefined) return matching[0];
  if (matching.length > 1) throw new CruError("usage", `'${idOrPrefix}' is the start of ${matching.length} questions`, { hint: `one of: ${matching.slice(0, 5).join(", ")}` });
  const near = nearest(idOrPrefix, ids);
  throw new CruError("not_found", `there is no question '${idOrPrefix}'`, { hint: near === undefined ? "see `cru inbox list`" : `did you mean '${near}'?` });
}

function unreadable(path: string): Problem {
  return { path, line: 1, column: 1, field: "", message: "this is not a question", hint: "", severity: "warning", code: "record.invalid" };
}
