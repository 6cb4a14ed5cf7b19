import { openSpellBook } from "../../app/spell-book.ts";
import type { Run } from "../command.ts";
import { dim, printJson, tabbed, tableLines, warnProblems } from "../print.ts";

export const run: Run = async (input) => {
  const { io, options, cwd, env } = input;
  const { book, trust } = openSpellBook({ cwd, env, trust: options.trust === true });
  const files = [...book.files.values()].map((file) => ({ ...file, trusted: trust.isTrusted(file.path, file.hash) }));
  if (options.json === true) {
    printJson(io, { spells: files.map(({ name, source, path, trusted }) => ({ name, source, path, trusted })), problems: book.problems });
    return 0;
  }
  if (io.outIsTerminal) {
    const rows = files.map((f) => [f.name, f.trusted ? f.source : `${f.source} (untrusted)`, f.shown]);
    const [head = "", ...lines] = tableLines(["NAME", "SOURCE", "PATH"], rows, io.columns);
    io.out(`${[dim(head, input), ...lines].join("\n")}\n`);
  } else io.out(files.map((f) => tabbed([f.name, f.source, f.shown, f.trusted ? "trusted" : "untrusted"])).join(""));
  warnProblems(io, book.problems, "`cru spells list --json`");
  return 0;
};
