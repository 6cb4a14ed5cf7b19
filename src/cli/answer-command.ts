import { answerItem } from "../app/answer-item.ts";
import { isPutBack } from "../app/aside.ts";
import { kindOfSession, type ResumableKind } from "../app/resume-command.ts";
import { findPaths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import type { AnswerInput } from "../inbox/answer-question.ts";
import { typedChanges } from "../inbox/changed-parameters.ts";
import { findQuestion, type InboxItem, readItem } from "../inbox/list-inbox.ts";
import { systemClock } from "../lib/clock.ts";
import { inertLine } from "../lib/inert.ts";
import { recordIfInterrupted } from "../session/record-if-interrupted.ts";
import type { CommandInput } from "./command.ts";
import { itemRow, nextCommand } from "./inbox-item.ts";
import { printJson } from "./print.ts";

const DONE = { approve: "approved", deny: "denied", answer: "answered" } as const;

export type Answering = Omit<AnswerInput, "id" | "set"> & { /** `name=value`, as they were typed. */ pairs?: readonly string[] };

/** `inbox approve`, `deny` and `answer`: records the answer and says how the work goes on, or goes on with it (`--resume`). */
export async function answerCommand(input: CommandInput, { pairs, ...answer }: Answering): Promise<number> {
  const { args, options, cwd, env, io } = input;
  const paths = findPaths(cwd, env);
  const id = findQuestion(paths, args[0] ?? "");
  const before = await readItem(paths, id);
  if (before === undefined) throw new CruError("failed", `the record of ${id} cannot be read`);
  answerItem({ ...answer, id, set: typedChanges(before.question, pairs ?? []) }, { paths, clock: systemClock });
  if (answer.confirm !== undefined && before.question.reversible) io.err("note: it can be undone, so --confirm was not needed\n");
  const after = await readItem(paths, id);
  if (after === undefined) throw new CruError("failed", `the record of ${id} cannot be read`);
  const alone = isPutBack(before.question);
  const next = before.awaited || alone ? null : await nextCommand(before, paths);
  const warn = (message: string): void => io.err(`${inertLine(message)}\n`);
  if (next !== null) await recordIfInterrupted(before.question.session_id, { paths, env, clock: systemClock, warn });
  if (options.resume === true && next !== null && before.question.workflow_id === undefined) return resume(input, before, { done: DONE[answer.decision], kind: await kindOfSession(paths, before.question.session_id) });
  if (options.json === true) printJson(io, { item: itemRow(after), next });
  else {
    io.out(`${DONE[answer.decision]} ${id}: ${inertLine(before.question.title, 200)}\n`);
    if (alone) return 0;
    io.out(next === null ? "The agent that asked goes on.\n" : `Nobody waits for it now; go on with: ${next}\n`);
  }
  return 0;
}

/** The work goes on in this process, as if `cru chat --resume` or `cru task --resume` had been typed. */
async function resume(input: CommandInput, { question }: InboxItem, { done, kind }: { done: string; kind: ResumableKind }): Promise<number> {
  input.io.err(`${done} ${question.id}: ${inertLine(question.title, 200)}\n`);
  const { run } = kind === "task" ? await import("./commands/task.ts") : await import("./commands/chat.ts");
  return run({ ...input, args: [], options: { resume: question.session_id, print: true, json: input.options.json, wait: input.options.wait, trust: input.options.trust } });
}
