import { openBeads } from "../../app/beads.ts";
import type { BeadChange } from "../../beads/bead-store.ts";
import { findPaths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { inertLine } from "../../lib/inert.ts";
import { beadFields, labelsOf, statusOf, titleOf } from "../bead-options.ts";
import type { Run } from "../command.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args: [id = ""], options, cwd, env, io }) => {
  const change: BeadChange = {
    ...beadFields(options),
    ...(typeof options.title === "string" ? { title: titleOf(options.title) } : {}),
    ...(typeof options.status === "string" ? { status: statusOf(options.status) } : {}),
  };
  const [addLabels, removeLabels] = [labelsOf(options.label, "--label"), labelsOf(options.removeLabel, "--remove-label")];
  if (Object.keys(change).length + addLabels.length + removeLabels.length === 0) {
    throw new CruError("usage", "nothing to change was given", { hint: "see `cru beads update --help`" });
  }
  const bead = await openBeads(findPaths(cwd, env)).update(id, { ...change, addLabels, removeLabels });
  if (options.json === true) printJson(io, { bead });
  else io.out(`${inertLine(bead.id)}\t${bead.status}\n`);
  return 0;
};
