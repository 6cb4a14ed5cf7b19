import { openBeads } from "../../app/beads.ts";
import { findPaths } from "../../config/paths.ts";
import { inertLine } from "../../lib/inert.ts";
import type { Run } from "../command.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args: [id = ""], options, cwd, env, io }) => {
  const bead = await openBeads(findPaths(cwd, env)).close(id, typeof options.reason === "string" ? { reason: options.reason } : {});
  if (options.json === true) printJson(io, { bead });
  else io.out(`${inertLine(bead.id)}\t${bead.status}\n`);
  return 0;
};
