import { findPaths } from "../../config/paths.ts";
import { problemText } from "../../contract/problem.ts";
import { listInbox } from "../../inbox/list-inbox.ts";
import { inertLine } from "../../lib/inert.ts";
import type { Run } from "../command.ts";
import { itemRow } from "../inbox-item.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ options, cwd, env, io }) => {
  const limits = options.all === true ? { closed: Number.MAX_SAFE_INTEGER } : options.pending === true ? { closed: 0 } : {};
  const { items, problems } = await listInbox(findPaths(cwd, env), limits);
  if (options.json === true) {
    printJson(io, { items: items.map(itemRow), problems });
    return 0;
  }
  for (const problem of problems) io.err(`${inertLine(problemText(problem))}\n`);
  if (!items.some((item) => item.status === "pending")) io.err("Nothing waits for you.\n");
  for (const { question, status } of items) {
    const head = `${question.id}  ${status.padEnd(9)}  ${question.kind.padEnd(10)}  `;
    io.out(`${head}${inertLine(question.title, io.outIsTerminal ? Math.max(20, io.columns - head.length) : undefined)}\n`);
  }
  return 0;
};
