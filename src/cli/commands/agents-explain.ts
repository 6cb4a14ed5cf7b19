import { type Explained, explainRights } from "../../app/explain-rights.ts";
import { PERMISSIONS } from "../../contract/permission.ts";
import { inertLine } from "../../lib/inert.ts";
import { parsePermissions } from "../../permission/parse-permissions.ts";
import type { CommandInput, Run } from "../command.ts";
import { dim, printJson, tabbed, tableLines } from "../print.ts";

export const run: Run = async (input) => {
  const { args: [name = ""], options, cwd, env, io } = input;
  const parent = typeof options.parent === "string" ? options.parent : undefined;
  const spawn = typeof options.allow === "string" ? parsePermissions(options.allow, "--allow") : undefined;
  const explained = await explainRights({ cwd, env, trust: options.trust === true, name, parent, spawn });
  if (options.json === true) printJson(io, asJson(explained));
  else if (io.outIsTerminal) io.out(asTable(explained, spawn !== undefined, input));
  else io.out(rows(explained, true).map(tabbed).join(""));
  if (explained.unused !== undefined) io.err(`warning: ${inertLine(explained.unused)} is not trusted, so ${explained.agent.source === "builtin" ? "the built-in agent" : "the agent"} of that name is used and shown; \`cru trust\`\n`);
  if (explained.projectIgnored) io.err("note: this project's settings are not used, you have not trusted them; `cru trust`\n");
  return 0;
};

function asJson({ agent, trusted, parent, deny, rights }: Explained): unknown {
  return {
    agent: { name: agent.name, source: agent.source, path: agent.path, enabled: agent.value.enabled, trusted, permissions: agent.value.permissions, requires_approval: agent.value.requiresApproval },
    parent: { name: parent.name ?? null, permissions: parent.rights },
    denied_by_settings: deny,
    granted: rights.granted,
    reduced: rights.reduced,
    rights: PERMISSIONS.map((permission) => {
      const { granted, baseline, parent: has, definition, spawn, denied, why } = rights.reasons[permission];
      return { permission, granted, baseline, parent: has, definition, spawn: spawn ?? null, denied, why };
    }),
  };
}

/** right · granted · parent · definition · spawn · denied · why */
function rows({ rights }: Explained, withSpawn: boolean): string[][] {
  const word = (value: boolean | undefined): string => (value === undefined ? "-" : value ? "yes" : "no");
  return PERMISSIONS.map((permission) => {
    const { granted, parent, definition, spawn, denied, why } = rights.reasons[permission];
    return [permission, word(granted), word(parent), word(definition), ...(withSpawn ? [word(spawn)] : []), word(denied), why];
  });
}

const WIDE = 130;

function asTable(explained: Explained, withSpawn: boolean, input: CommandInput): string {
  const { agent, parent, rights, trusted, shown } = explained;
  const headings = ["RIGHT", "GRANTED", "PARENT", "ASKED FOR", ...(withSpawn ? ["NAMED"] : []), "DENIED", "WHY"];
  // The reasons say everything; the single answers are for who has the room.
  const kept = (cells: readonly string[]): string[] => cells.filter((_, i) => input.io.columns >= WIDE || i < 2 || i === headings.length - 1);
  const [head = "", ...lines] = tableLines(kept(headings), rows(explained, withSpawn).map(kept), input.io.columns);
  const state = [...(agent.value.enabled ? [] : ["disabled: nobody can start it"]), ...(trusted ? [] : ["not trusted: it cannot be used until `cru trust`"])];
  const gates = agent.value.requiresApproval;
  return [
    `${inertLine(agent.name)} (${agent.source}, ${inertLine(shown)})${state.length === 0 ? "" : `  ${state.join("; ")}`}`,
    `started by ${parent.name === undefined ? "you, or the primary agent of a chat" : inertLine(parent.name)}, which has: ${parent.rights.join(", ")}`,
    "",
    dim(head, input),
    ...lines,
    "",
    `It gets: ${rights.granted.join(", ")}`,
    ...(rights.reduced.length === 0 ? [] : [`It asks for more than its parent has and does without: ${rights.reduced.join(", ")}`]),
    ...(gates.length === 0 ? [] : [`A person is asked each time before: ${inertLine(gates.join(", "))}`]),
    "",
  ].join("\n");
}
