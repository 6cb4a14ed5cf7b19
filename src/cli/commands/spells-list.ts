import { openSpellBook } from "../../app/spell-book.ts";
import type { Run } from "../command.ts";
import { dim, printJson, tabbed, tableLines, warnProblems } from "../print.ts";

export const run: Run = async (input) => {
  const { io, options } = input;
  const book = openSpellBook(input);
  const files = [...book.files.values()];
  if (options.json === true) {
    printJson(io, { spells: files.map(({ name, source, path }) => ({ name, source, path })), problems: book.problems });
    return 0;
  }
  const rows = files.map((f) => [f.name, f.source, f.shown]);
  if (io.outIsTerminal) {
    const [head = "", ...lines] = tableLines(["NAME", "SOURCE", "PATH"], rows, io.columns);
    io.out(`${[dim(head, input), ...lines].join("\n")}\n`);
  } else io.out(rows.map(tabbed).join(""));
  warnProblems(io, book.problems, "`cru spells list --json`");
  return 0;
};
