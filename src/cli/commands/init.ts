import { initProject } from "../../app/init.ts";
import { inertLine } from "../../lib/inert.ts";
import type { Run } from "../command.ts";

export const run: Run = async ({ options, cwd, env, io }) => {
  const result = await initProject({ cwd, env });
  if (options.json === true) {
    io.out(`${JSON.stringify(result)}\n`);
    return 0;
  }
  const created = result.items.filter((item) => item.status === "created").length;
  io.out(`${created === 0 ? "Already set up" : "Set up"}: ${inertLine(result.root)}\n`);
  for (const { path, status, note } of result.items) io.out(`  ${status.padEnd(7)}  ${path}${note === undefined ? "" : `  (${note})`}\n`);
  if (!result.git) io.out("This is no git repository: chat and notes work, `cru task` needs one. Make one with `git init` and commit as usual.\n");
  if (result.untrusted > 0) io.out(`${result.untrusted} ${result.untrusted === 1 ? "file that was" : "files that were"} here before can change what agents do and ${result.untrusted === 1 ? "is" : "are"} not trusted yet: look at ${result.untrusted === 1 ? "it" : "them"} with \`cru trust\`.\n`);
  if (created > 0) io.out("Next: `cru doctor` checks this machine, `cru agents list` shows who can work, `cru agents new NAME` writes an agent.\n");
  return 0;
};
