import type { Run } from "../command.ts";

export const run: Run = async ({ io }) => {
  io.out("");
  return 0;
};
