import { answerCommand } from "../answer-command.ts";
import type { Run } from "../command.ts";

export const run: Run = async (input) => {
  const { set, confirm, session } = input.options;
  return answerCommand(input, {
    decision: "approve",
    pairs: Array.isArray(set) ? set.map(String) : [],
    ...(typeof confirm === "string" ? { confirm } : {}),
    ...(session === true ? { scope: "session" as const } : {}),
  });
};
