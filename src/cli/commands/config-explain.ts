import { openSettings } from "../../app/open-settings.ts";
import { type Explained, explainSettings } from "../../app/settings-explain.ts";
import type { Origin } from "../../config/layer.ts";
import { GUARDED_SECTIONS } from "../../config/loosens.ts";
import { homeFolder } from "../../config/paths.ts";
import { parseKey } from "../../config/setting-keys.ts";
import { inert, inertLine } from "../../lib/inert.ts";
import { shownPath } from "../../lib/shown-path.ts";
import { inline } from "../../lib/yaml-edit.ts";
import type { Run } from "../command.ts";
import { reportSettings, settingsExitCode } from "../report-settings.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const path = parseKey(args[0] ?? "");
  const loaded = openSettings({ cwd, env, trust: options.trust === true });
  const settings = explainSettings(loaded, path);
  if (options.json === true) {
    io.out(`${JSON.stringify({ settings: settings.map(asJson), project_ignored: loaded.projectIgnored, problems: loaded.problems })}\n`);
    return settingsExitCode(loaded);
  }
  const where = (origin: Origin): string => place(origin, (file) => shownPath(file, { root: loaded.paths.root, home: homeFolder(env) }));
  io.out(settings.map((setting) => asText(setting, where)).join("\n"));
  return reportSettings(loaded, io);
};

function asText(setting: Explained, where: (origin: Origin) => string): string {
  const adds = setting.key === "permissions.deny";
  const lines = [`${inert(setting.key)}: ${inert(inline(setting.value))}`];
  let won = false;
  for (const said of setting.said) {
    const role = !said.used ? "ignored" : adds ? "adds" : won ? "over" : "from";
    won ||= said.used;
    const why = said.used ? "" : "  (this project is not trusted: `cru trust`)";
    lines.push(`  ${role.padEnd(7)}  ${where(said)}: ${inertLine(inline(said.value), 200)}${why}`);
  }
  const guarded = (GUARDED_SECTIONS as readonly string[]).includes(setting.key.split(".")[0] ?? "");
  lines.push(`  also     ${setting.environment} in the environment${guarded ? "; a project's file may only tighten it" : ""}`);
  return `${lines.join("\n")}\n`;
}

function place(origin: Origin, show: (file: string) => string): string {
  if (origin.layer === "builtin") return "built-in";
  if (origin.layer === "flags") return "the command line";
  if (origin.layer === "environment") return origin.variable ?? "the environment";
  return inertLine(`${show(origin.file ?? "")}${origin.line === undefined ? "" : `:${origin.line}`}`);
}

function asJson({ key, value, said, environment, ...origin }: Explained): object {
  return { key, value, ...origin, environment, said };
}
