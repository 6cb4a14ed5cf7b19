import { join } from "node:path";
import { expect, it } from "vitest";
import type { Command } from "../../src/cli/command.ts";
import { GLOBAL_OPTIONS } from "../../src/cli/program.ts";
import { COMMANDS } from "../../src/cli/table.ts";
import { repository } from "../support/cru.ts";

const HEAD = `# The command line

Every command, from the same table as \`cru --help\`. \`cru COMMAND --help\` shows one of them; \`cru completion SHELL\` completes them.
Data goes to standard output, progress and warnings to standard error. Commands that print data take \`--json\`; fields may be added
to it, never renamed. \`NO_COLOR\` is honoured.

| exit code | meaning |
|---|---|
| 0 | ok |
| 1 | failed |
| 2 | usage, or not found |
| 3 | invalid definition or setting |
| 4 | blocked: a person is needed |
| 75 | locked by another process, whose pid is named |
| 130 | interrupted |

Options that every command takes, before or after its name:

${table(GLOBAL_OPTIONS.map((o) => [code(o.flags), o.summary]))}
`;

// After a change of the table: npx vitest run test/cli/docs.test.ts -u
it("docs/cli.md is in step with the table of commands", async () => {
  await expect(`${HEAD}\n${COMMANDS.map(section).join("\n")}`).toMatchFileSnapshot(join(repository, "docs/cli.md"));
});

function section({ name, summary, args = [], options = [], examples = [] }: Command): string {
  const usage = ["cru", name, ...args.map((a) => a.name), ...(options.length > 0 ? ["[options]"] : [])].join(" ");
  const rows = [...args.map((a) => [code(a.name), a.summary]), ...options.map((o) => [code(o.flags), o.summary])];
  const parts = [`## ${code(usage)}`, `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, ...(rows.length > 0 ? [table(rows)] : []), `\`\`\`sh\n${examples.join("\n")}\n\`\`\``];
  return `${parts.join("\n\n")}\n`;
}

function table(rows: string[][]): string {
  return ["| | |", "|---|---|", ...rows.map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)].join("\n");
}

function code(text: string): string {
  return `\`${text}\``;
}
