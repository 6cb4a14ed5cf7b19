import { findFamiliar, outputOf } from "../../app/task/familiars.ts";
import { findPaths } from "../../config/paths.ts";
import { inert } from "../../lib/inert.ts";
import type { Run } from "../command.ts";
import { taskLine } from "../task/task-progress.ts";

/** What an agent did and said, now or later; with `--follow`, until it has ended. */
export const run: Run = async ({ args, options, cwd, env, io }) => {
  const familiar = await findFamiliar(findPaths(cwd, env), args[0] ?? "");
  // A text is recorded in pieces.
  let open = false;
  const endText = (): void => {
    if (open) io.out("\n");
    open = false;
  };
  for await (const event of outputOf(familiar, { follow: options.follow === true })) {
    if (options.json === true) io.out(`${JSON.stringify(event)}\n`);
    else if (event.type === "agent.output") {
      io.out(inert(event.text));
      open = !event.text.endsWith("\n");
    } else {
      const line = taskLine(event);
      if (line === undefined) continue;
      endText();
      io.out(`${line}\n`);
    }
  }
  endText();
  return 0;
};
