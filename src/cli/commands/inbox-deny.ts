import { answerCommand } from "../answer-command.ts";
import type { Run } from "../command.ts";

export const run: Run = async (input) => {
  const { reason } = input.options;
  return answerCommand(input, { decision: "deny", text: typeof reason === "string" ? reason : "" });
};
