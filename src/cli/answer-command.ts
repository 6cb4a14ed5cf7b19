import { findPaths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import { type AnswerInput, answerQuestion } from "../inbox/answer-question.ts";
import { findQuestion, readItem } from "../inbox/list-inbox.ts";
import { systemClock } from "../lib/clock.ts";
import { inertLine } from "../lib/inert.ts";
import { recordIfInterrupted } from "../session/record-if-interrupted.ts";
import type { CommandInput } from "./command.ts";
import { itemRow, nextCommand } from "./inbox-item.ts";
import { printJson } from "./print.ts";

const DONE = { approve: "approved", deny: "denied", answer: "answered" } as const;

/** `inbox approve`, `deny` and `answer`: records the answer and says how the work goes on. */
export async function answerCommand({ args, options, cwd, env, io }: CommandInput, answer: Omit<AnswerInput, "id">): Promise<number> {
  const paths = findPaths(cwd, env);
  const id = findQuestion(paths, args[0] ?? "");
  const before = await readItem(paths, id);
  answerQuestion({ ...answer, id }, { paths, clock: systemClock });
  const after = await readItem(paths, id);
  if (before === undefined || after === undefined) throw new CruError("failed", `the record of ${id} cannot be read`);
  const next = before.awaited ? null : nextCommand(before);
  const warn = (message: string): void => io.err(`${inertLine(message)}\n`);
  if (next !== null) await recordIfInterrupted(before.question.session_id, { paths, env, clock: systemClock, warn });
  if (options.json === true) printJson(io, { item: itemRow(after), next });
  else {
    io.out(`${DONE[answer.decision]} ${id}: ${inertLine(before.question.title, 200)}\n`);
    io.out(next === null ? "The agent that asked goes on.\n" : `Nobody waits for it now; go on with: ${next}\n`);
  }
  return 0;
}
