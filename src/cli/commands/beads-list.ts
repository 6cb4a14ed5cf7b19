import { openBeads } from "../../app/beads.ts";
import { findPaths } from "../../config/paths.ts";
import { labelsOf, statusOf } from "../bead-options.ts";
import type { Run } from "../command.ts";
import { printJson, problemLine, tableLines, tabbed } from "../print.ts";

export const run: Run = async ({ options, cwd, env, io }) => {
  const statuses = typeof options.status === "string" ? options.status.split(",").map((word) => statusOf(word.trim())) : undefined;
  const labels = labelsOf(options.label, "--label");
  const { items, problems } = await openBeads(findPaths(cwd, env)).list();
  const beads = items.filter((bead) => statuses?.includes(bead.status) !== false && labels.every((label) => bead.labels.includes(label)));
  if (options.json === true) {
    printJson(io, { beads, problems });
    return 0;
  }
  for (const problem of problems) io.err(`${problem.severity === "error" ? "warning" : "note"}: ${problemLine(problem)}\n`);
  const rows = beads.map((bead) => [bead.id, `P${bead.priority}`, bead.status, bead.issue_type, bead.title]);
  if (!io.outIsTerminal) io.out(rows.map(tabbed).join(""));
  else if (rows.length > 0) io.out(`${tableLines(["BEAD", "PRIO", "STATUS", "TYPE", "TITLE"], rows, io.columns).join("\n")}\n`);
  if (items.length === 0) io.err('No beads yet: `cru beads create "Add a login page"` writes one.\n');
  return 0;
};
