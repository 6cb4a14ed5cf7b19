import { findPaths } from "../../config/paths.ts";
import { findQuestion, readItem } from "../../inbox/list-inbox.ts";
import { revokeGrant } from "../../inbox/revoke.ts";
import { systemClock } from "../../lib/clock.ts";
import { inertLine } from "../../lib/inert.ts";
import type { Run } from "../command.ts";
import { itemRow } from "../inbox-item.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const paths = findPaths(cwd, env);
  const id = findQuestion(paths, args[0] ?? "");
  const isNew = revokeGrant(id, { paths, clock: systemClock });
  const item = await readItem(paths, id);
  if (options.json === true) printJson(io, { item: item === undefined ? null : itemRow(item), revoked: isNew });
  else io.out(`${isNew ? "revoked" : "was revoked before"}: ${inertLine(item?.question.grant ?? id, 200)}. The next call of that kind asks again.\n`);
  return 0;
};
