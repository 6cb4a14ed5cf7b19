import { openSettings } from "../../app/open-settings.ts";
import { explainSettings } from "../../app/settings-explain.ts";
import { setSetting } from "../../app/settings-set.ts";
import { parseKey } from "../../config/setting-keys.ts";
import { problemText } from "../../contract/problem.ts";
import { inertLine } from "../../lib/inert.ts";
import { inline } from "../../lib/yaml-edit.ts";
import type { Run } from "../command.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const [key = "", text = ""] = args;
  const result = await setSetting({ cwd, env, key, text, project: options.project === true });
  if (options.json === true) io.out(`${JSON.stringify({ key: result.key, value: result.value, path: result.path, trusted: result.trusted })}\n`);
  else io.out(`${inertLine(`${key}: ${inline(result.value)}`)}  (${inertLine(result.file)})\n`);
  for (const problem of result.otherProblems) io.err(`${inertLine(problemText(problem))}\n`);
  if (!result.trusted) io.err("cru: this project's settings are not trusted, so it is not used yet (`cru trust` shows them)\n");
  const stronger = strongerLayer(openSettings({ cwd, env }), key, result.path);
  if (stronger !== undefined) io.err(`cru: ${inertLine(stronger)} says something else and wins\n`);
  return 0;
};

function strongerLayer(loaded: ReturnType<typeof openSettings>, key: string, path: string): string | undefined {
  const winner = explainSettings(loaded, parseKey(key)).find((setting) => setting.said.find((said) => said.used)?.file !== path)?.said.find((said) => said.used);
  return winner === undefined || winner.layer === "builtin" || winner.layer === "user" ? undefined : (winner.variable ?? winner.file ?? winner.layer);
}
