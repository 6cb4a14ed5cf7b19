import { openAgentCatalog } from "../../app/agent-catalog.ts";
import { agentNotFound } from "../../catalog/agents.ts";
import type { DefinitionFile } from "../../catalog/load-definitions.ts";
import type { Run } from "../command.ts";
import { printJson, problemLine } from "../print.ts";

export const run: Run = async ({ args, io, options, cwd, env }) => {
  const { agents } = await openAgentCatalog({ cwd, env });
  const [name] = args;
  const written = agents.files.filter((file) => file.source !== "builtin");
  const named = (file: DefinitionFile): boolean => file.name === name || file.stem === name;
  // Ours are checked by our own tests; one of them is only looked at when it is asked for.
  const files = name === undefined ? written : written.some(named) ? written.filter(named) : agents.files.filter(named);
  if (name !== undefined && files.length === 0) throw agentNotFound(name, agents.files.map((file) => file.name ?? file.stem));
  const problems = files.flatMap((file) => file.problems);
  const checked = files.filter(isAgent).length;
  const errors = problems.filter((p) => p.severity === "error").length;
  if (options.json === true) printJson(io, { checked, problems });
  else {
    for (const problem of problems) io.out(`${problemLine(problem)}${problem.severity === "warning" ? " [warning]" : ""}\n`);
    const agentsChecked = `${checked} ${checked === 1 ? "agent" : "agents"} checked`;
    if (errors === 0) io.out(`${agentsChecked}, no problems${problems.length === 0 ? "" : ` but ${problems.length} ${problems.length === 1 ? "warning" : "warnings"}`}\n`);
    else io.err(`${agentsChecked}, ${errors} ${errors === 1 ? "error" : "errors"}\n`);
  }
  return errors === 0 ? 0 : 3;
};

/** A README in `.claude/agents` is passed over, and a folder is no agent. */
function isAgent(file: DefinitionFile): boolean {
  return file.stem !== "" && !file.problems.some((p) => p.code === "frontmatter.missing" && p.severity === "warning");
}
