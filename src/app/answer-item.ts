import type { Paths } from "../config/paths.ts";
import { type AnswerInput, answerQuestion } from "../inbox/answer-question.ts";
import { readQuestion } from "../inbox/question-file.ts";
import { CruError } from "../contract/error.ts";
import type { Clock } from "../lib/clock.ts";
import { putBackOf } from "./aside.ts";
import { changedPathFault } from "./changed-path.ts";

/** Records a person's answer, and does at once what no agent waits to do. */
export function answerItem(input: AnswerInput, deps: { paths: Paths; clock: Clock }): void {
  const question = readQuestion(deps.paths.project.inbox, input.id);
  const fault = question?.action && input.decision === "approve" ? changedPathFault(question.action.tool, input.set ?? {}, deps.paths.root) : undefined;
  if (fault !== undefined) throw new CruError("usage", `${input.id} would not be valid: ${fault}`, { hint: "nothing was answered; it still waits" });
  const putBack = question === undefined || input.decision !== "approve" ? undefined : putBackOf(question, deps.paths);
  answerQuestion(input, deps);
  putBack?.();
}
