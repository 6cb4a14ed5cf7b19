import { type AgentCatalog, defaultModel, openAgentCatalog } from "../../app/agent-catalog.ts";
import type { Agent } from "../../contract/agent.ts";
import type { Entry } from "../../contract/catalog.ts";
import { inertLine } from "../../lib/inert.ts";
import type { CommandInput, Run } from "../command.ts";
import { dim, printJson, tabbed, tableLines, warnProblems } from "../print.ts";

export const run: Run = async (input) => {
  const { io, options, cwd, env } = input;
  const catalog = await openAgentCatalog({ cwd, env, trust: options.trust === true });
  const enabled = catalog.agents.listed.filter((entry) => entry.value.enabled);
  const fallback = enabled.some((entry) => entry.value.model === undefined) ? await defaultModel(catalog, env) : "";
  const usable = new Map(catalog.agents.items.map((entry) => [entry.name, entry]));
  const rows = enabled.map((entry) => rowOf(entry, usable.get(entry.name), fallback));
  if (options.json === true) {
    printJson(io, { agents: rows, problems: catalog.agents.problems });
    return 0;
  }
  if (io.outIsTerminal) io.out(`${terminalLines(rows, catalog.show, input).join("\n")}\n`);
  else io.out(rows.map((r) => tabbed([r.name, r.description, r.model, permissionWords(r), r.source, catalog.show(r.path), r.trusted ? "trusted" : "untrusted"])).join(""));
  warnProblems(io, catalog.agents.problems, "`cru agents validate`");
  for (const { name, used_instead: used } of rows) {
    if (used !== undefined) io.err(`warning: '${inertLine(name)}' of this project is not trusted; until then ${used.source === "builtin" ? "the built-in one" : inertLine(catalog.show(used.path))} is used\n`);
  }
  const untrusted = rows.filter((row) => !row.trusted).length;
  if (untrusted > 0 && io.errIsTerminal) io.err(`note: ${untrusted} of these come from this project and cannot be used yet; \`cru trust\` shows and allows them\n`);
  return 0;
};

type Row = Pick<Agent, "name" | "description" | "permissions" | "enabled"> & { model: string; source: string; path: string; trusted: boolean; /** What runs under this name as long as this one is not trusted. */ used_instead?: { source: string; path: string } };

function rowOf(entry: Entry<Agent>, usable: Entry<Agent> | undefined, fallback: string): Row {
  const { name, description, model, permissions, enabled } = entry.value;
  const trusted = usable?.path === entry.path;
  const row = { name, description, model: model ?? fallback, permissions, source: entry.source, path: entry.path, enabled, trusted };
  return trusted || usable?.value.enabled !== true ? row : { ...row, used_instead: { source: usable.source, path: usable.path } };
}

/** Two lines an agent: what it is, then what it may do and where it is written. */
function terminalLines(rows: readonly Row[], show: AgentCatalog["show"], input: CommandInput): string[] {
  const [head = "", ...first] = tableLines(
    ["NAME", "MODEL", "SOURCE", "DESCRIPTION"],
    rows.map((r) => [r.name, r.model, r.trusted ? r.source : `${r.source} (untrusted)`, r.description]),
    input.io.columns,
  );
  return [dim(head, input), ...rows.flatMap((row, i) => [first[i] ?? "", dim(`    ${inertLine(`${permissionWords(row)} · ${row.source === "builtin" ? "built in" : show(row.path)}`, input.io.columns - 4)}`, input)])];
}

function permissionWords(row: Row): string {
  if (row.permissions === "inherit") return "inherit";
  return row.permissions.length === 0 ? "none" : row.permissions.join(",");
}
