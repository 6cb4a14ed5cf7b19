import { findPaths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { askFollowUp } from "../../inbox/follow-up.ts";
import { findQuestion, type InboxItem, readItem } from "../../inbox/list-inbox.ts";
import { systemClock } from "../../lib/clock.ts";
import { inert } from "../../lib/inert.ts";
import { createRedactor } from "../../lib/redact.ts";
import type { Run } from "../command.ts";
import { itemRow, nextCommand } from "../inbox-item.ts";
import { printJson } from "../print.ts";

const LOOK_EVERY_MS = 200;

/** Records the question beside the item. A live owner answers it at once, and then so does this command; else `--resume` does. */
export const run: Run = async ({ args, options, cwd, env, io }) => {
  const paths = findPaths(cwd, env);
  const id = findQuestion(paths, args[0] ?? "");
  const { n } = askFollowUp({ id, text: createRedactor(env).text(args.slice(1).join(" ")) }, { paths, clock: systemClock });
  let item = await read();
  while (item.awaited && told(item, n) === null) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    item = await read();
  }
  const answer = told(item, n);
  const next = answer === null && item.status === "pending" ? await nextCommand(item, paths) : null;
  if (options.json === true) printJson(io, { item: itemRow(item), n, answer, next });
  else if (answer !== null) io.out(`${inert(answer)}\n`);
  else io.out(next === null ? `${id} is ${item.status} by now\n` : `Nobody waits with it now; the agent answers at: ${next}\n`);
  return 0;

  async function read(): Promise<InboxItem> {
    const found = await readItem(paths, id);
    if (found === undefined) throw new CruError("failed", `the record of ${id} cannot be read`);
    return found;
  }
};

function told(item: InboxItem, n: number): string | null {
  return item.talk.find((one) => one.n === n)?.told ?? null;
}
