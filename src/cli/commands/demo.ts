import { runDemo } from "../../app/demo/run-demo.ts";
import { inert } from "../../lib/inert.ts";
import type { Run } from "../command.ts";

const NEXT = `
Now in a repository of yours:
  $ cru init                                set it up; nothing there is touched
  $ cru doctor                              see what is missing, such as a key or a sandbox
  $ cru chat "what does this project do?"   talk with an agent that plans and delegates
  $ cru task "mend the failing test"        let one work alone, in a worktree of its own
  $ cru inbox list                          see what waits for you
`;

export const run: Run = async ({ options, env, io }) => {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  try {
    const cru = [process.execPath, process.argv[1] ?? ""] as const;
    await runDemo({ env, cru, keep: options.keep === true, signal: stop.signal }, (text) => io.out(inert(text)));
    io.out(NEXT);
    return 0;
  } finally {
    process.removeListener("SIGINT", onSignal);
    process.removeListener("SIGTERM", onSignal);
  }
};
