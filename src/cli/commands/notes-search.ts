import { openNotes } from "../../app/notes.ts";
import { openSettings } from "../../app/open-settings.ts";
import { CruError } from "../../contract/error.ts";
import type { Found } from "../../kiln/open-kiln.ts";
import { inertLine } from "../../lib/inert.ts";
import type { CommandInput, Run } from "../command.ts";
import { dim, printJson, tabbed } from "../print.ts";

const USUAL_LIMIT = 10;

export const run: Run = async (input) => {
  const { args, options, cwd, env, io } = input;
  const query = args.join(" ").trim();
  if (query === "") throw new CruError("usage", "the query is empty", { hint: 'say what you look for: cru notes search "how do we release"' });
  const limit = limitOf(options.limit);
  const { paths, settings } = openSettings({ cwd, env, trust: options.trust === true });
  const kiln = openNotes({ paths, settings, env }, paths.root);
  const { notes, embeddingFailure } = await kiln.refresh();
  if (embeddingFailure !== undefined) io.err(`warning: ${embeddingFailure}; notes are found by their words only\n`);
  const results = await kiln.search(query, { limit });
  if (options.json === true) printJson(io, { results: results.map(({ path, heading, score, snippet, line, title }) => ({ path, heading, score, snippet, line, title })) });
  else if (io.outIsTerminal) io.out(results.map((found) => terminalLines(found, input)).join(""));
  else io.out(results.map(({ path, line, heading, score, snippet }) => tabbed([`${path}:${line}`, score.toFixed(3), heading ?? "", snippet])).join(""));
  if (results.length === 0 && options.json !== true) io.err(notes === 0 ? "there are no notes here: markdown files are notes\n" : "no note is about this\n");
  return 0;
};

function terminalLines({ path, line, heading, title, score, snippet }: Found, input: CommandInput): string {
  const head = `${inertLine(path)}:${line}  ${inertLine(heading ?? title)}  ${dim(score.toFixed(2), input)}`;
  return `${head}\n    ${dim(inertLine(snippet, Math.max(40, input.io.columns - 5)), input)}\n`;
}

function limitOf(value: unknown): number {
  if (value === undefined) return USUAL_LIMIT;
  const limit = Number(value);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1000) throw new CruError("usage", `--limit needs a number from 1 to 1000, not '${String(value)}'`);
  return limit;
}
