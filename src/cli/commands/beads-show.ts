import { openBeads } from "../../app/beads.ts";
import { beadNotFound } from "../../beads/embedded-store.ts";
import { findPaths } from "../../config/paths.ts";
import type { Bead } from "../../contract/bead.ts";
import { inert, inertLine } from "../../lib/inert.ts";
import type { Run } from "../command.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args: [id = ""], options, cwd, env, io }) => {
  const store = openBeads(findPaths(cwd, env));
  const bead = await store.get(id);
  if (bead === undefined) throw beadNotFound(id, (await store.list()).items.map((b) => b.id));
  if (options.json === true) printJson(io, { bead });
  else io.out(beadText(bead));
  return 0;
};

function beadText(bead: Bead): string {
  const facts = [
    ["status", bead.status],
    ["priority", String(bead.priority)],
    ["type", bead.issue_type],
    ["assignee", bead.assignee],
    ["labels", bead.labels.join(", ")],
    ["depends on", bead.dependencies.map((d) => `${d.depends_on_id} (${d.type})`).join(", ")],
    ["created", bead.created_at],
    ["updated", bead.updated_at],
    ["closed", bead.closed_at],
    ["reason", bead.close_reason],
  ].flatMap(([name, value]) => (value === undefined || value === "" ? [] : [`${name?.padEnd(11)} ${inertLine(value)}\n`]));
  const texts = [
    ["Description", bead.description],
    ["Design", bead.design],
    ["Acceptance criteria", bead.acceptance_criteria],
    ["Notes", bead.notes],
  ].flatMap(([name, value]) => (value === undefined || value.trim() === "" ? [] : [`\n${name}\n${inert(value.trimEnd())}\n`]));
  return `${inertLine(bead.id)}  ${inertLine(bead.title)}\n${[...facts, ...texts].join("")}`;
}
