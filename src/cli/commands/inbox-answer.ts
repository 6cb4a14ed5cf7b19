import { answerCommand } from "../answer-command.ts";
import type { Run } from "../command.ts";

export const run: Run = async (input) => {
  const { confirm } = input.options;
  return answerCommand(input, { decision: "answer", text: input.args.slice(1).join(" "), ...(typeof confirm === "string" ? { confirm } : {}) });
};
