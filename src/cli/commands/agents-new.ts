import { newAgent } from "../../app/new-agent.ts";
import { inertLine } from "../../lib/inert.ts";
import { parsePermissions } from "../../permission/parse-permissions.ts";
import type { Run } from "../command.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args: [name = ""], options, cwd, env, io }) => {
  const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
  const permissions = text(options.permissions);
  const made = await newAgent({
    cwd,
    env,
    name,
    description: text(options.description),
    model: text(options.model),
    permissions: permissions === undefined ? undefined : parsePermissions(permissions, "--permissions"),
    system: options.system === true,
  });
  if (options.json === true) {
    printJson(io, { agent: { name: made.name, source: made.source, path: made.path }, replaces: made.replaces, hidden_by: made.hiddenBy });
    return 0;
  }
  io.out(`${inertLine(made.path)}\n`);
  if (made.replaces !== null) io.err(`It takes the place of the ${made.replaces} agent of the same name.\n`);
  if (made.hiddenBy !== null) io.err("In this project, the project's own agent of the same name goes first.\n");
  io.err(`Next: write its description and prompt, then \`cru agents validate ${made.name}\`${made.source === "project" ? " and, after your edits, `cru trust`" : ""}.\n`);
  return 0;
};
