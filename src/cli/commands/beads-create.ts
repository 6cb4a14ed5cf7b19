import { openBeads } from "../../app/beads.ts";
import { findPaths } from "../../config/paths.ts";
import { inertLine } from "../../lib/inert.ts";
import { beadFields, labelsOf, titleOf } from "../bead-options.ts";
import type { Run } from "../command.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const wanted = { ...beadFields(options), title: titleOf(args.join(" ")), labels: labelsOf(options.label, "--label") };
  const bead = await openBeads(findPaths(cwd, env)).create(wanted);
  if (options.json === true) printJson(io, { bead });
  else io.out(`${inertLine(bead.id)}\n`);
  return 0;
};
