import { findPaths } from "../../config/paths.ts";
import { CruError } from "../../contract/error.ts";
import { findQuestion, readItem } from "../../inbox/list-inbox.ts";
import type { Run } from "../command.ts";
import { itemRow, itemText } from "../inbox-item.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const paths = findPaths(cwd, env);
  const id = findQuestion(paths, args[0] ?? "");
  const item = await readItem(paths, id);
  if (item === undefined) throw new CruError("failed", `the record of ${id} cannot be read`);
  if (options.json === true) printJson(io, { item: itemRow(item) });
  else io.out(itemText(item));
  return 0;
};
