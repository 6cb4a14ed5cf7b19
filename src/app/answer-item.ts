import type { Paths } from "../config/paths.ts";
import { type AnswerInput, answerQuestion } from "../inbox/answer-question.ts";
import { readQuestion } from "../inbox/question-file.ts";
import type { Clock } from "../lib/clock.ts";
import { putBackOf } from "./aside.ts";

/** Records a person's answer, and does at once what no agent waits to do. */
export function answerItem(input: AnswerInput, deps: { paths: Paths; clock: Clock }): void {
  const question = readQuestion(deps.paths.project.inbox, input.id);
  const putBack = question === undefined || input.decision !== "approve" ? undefined : putBackOf(question, deps.paths);
  answerQuestion(input, deps);
  putBack?.();
}
