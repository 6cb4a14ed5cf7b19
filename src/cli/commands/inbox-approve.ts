import { CruError } from "../../contract/error.ts";
import { answerCommand } from "../answer-command.ts";
import type { Run } from "../command.ts";

export const run: Run = async (input) => {
  const { set, confirm } = input.options;
  return answerCommand(input, {
    decision: "approve",
    set: parseSet(Array.isArray(set) ? set.map(String) : []),
    ...(typeof confirm === "string" ? { confirm } : {}),
  });
};

/** `k=v`; a value that is JSON is taken as such, anything else is text. */
function parseSet(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      if (at < 1) throw new CruError("usage", `--set needs name=value, not '${pair}'`);
      const text = pair.slice(at + 1);
      try {
        return [pair.slice(0, at), JSON.parse(text) as unknown];
      } catch {
        return [pair.slice(0, at), text];
      }
    }),
  );
}
