import { openSpellBook } from "../../app/spell-book.ts";
import { findSpell } from "../../catalog/spells.ts";
import { CruError } from "../../contract/error.ts";
import { problemText } from "../../contract/problem.ts";
import { inert } from "../../lib/inert.ts";
import type { Run } from "../command.ts";
import { printJson, warnProblems } from "../print.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const [name = ""] = args;
  const { text, problems, ...file } = findSpell(name, openSpellBook({ cwd, env }).book);
  if (text === undefined) throw new CruError("invalid_definition", problems.map(problemText).join("\n"));
  if (options.json === true) printJson(io, { spell: { name: file.name, source: file.source, path: file.path, hash: file.hash, text, problems } });
  else {
    io.out(io.outIsTerminal ? inert(text) : text);
    warnProblems(io, problems, "`cru spells show --json`");
  }
  return 0;
};
