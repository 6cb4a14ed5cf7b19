import { CruError } from "../contract/error.ts";
import { type Problem, problemText } from "../contract/problem.ts";
import type { SettingsFile } from "../contract/settings.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import { shownPath } from "../lib/shown-path.ts";
import { environmentLayer } from "./environment.ts";
import { type FileLayer, readFileLayer } from "./file-layer.ts";
import { entriesOf, type Layer, type Origin, setAt } from "./layer.ts";
import { loosenings } from "./loosens.ts";
import { mergeSettings } from "./merge-settings.ts";
import { type Env, homeFolder, type Paths } from "./paths.ts";

export type LoadSettingsInput = {
  paths: Paths;
  env: Env;
  /** What the command line says, in the shape of the file. */
  flags?: SettingsFile;
  /** Asked with the hash of exactly the bytes that would be used; `openTrust(…).isTrusted`. */
  isTrusted(path: string, hash: string): boolean;
};

export type LoadedSettings = {
  settings: Settings;
  /** By dotted key. */
  origin: Record<string, Origin>;
  /** Lowest first; the project's file is among them, not used, when nobody has trusted it. */
  layers: Layer[];
  problems: Problem[];
  /** There is a project file and it was not used. */
  projectIgnored: boolean;
};

/** All settings with where each came from. A bad file is a list of problems, a bad variable a `CruError`; a project's `.env` is never read. */
export function loadSettings(input: LoadSettingsInput): LoadedSettings {
  const { paths, env } = input;
  const show = (path: string): string => shownPath(path, { root: paths.root, home: homeFolder(env) });
  const user = readFileLayer("user", paths.user.config, "/");
  const project = readFileLayer("project", paths.project.config, paths.root);
  const problems = [...(user?.problems ?? []), ...(project?.problems ?? [])];
  const layers: Layer[] = user === undefined ? [] : [user.layer];
  if (project !== undefined) {
    const tightened = onlyTightening(project, mergeSettings(layers).settings, `put it in ${show(paths.user.config)}`);
    problems.push(...tightened.problems);
    layers.push({ ...tightened.layer, used: input.isTrusted(paths.project.config, project.hash) });
  }
  layers.push(environmentLayer(env), { name: "flags", value: input.flags ?? {}, used: true, place: () => ({ layer: "flags" }) });
  const projectIgnored = layers.some((layer) => layer.name === "project" && !layer.used);
  return { ...mergeSettings(layers), layers, problems: problems.map((problem) => ({ ...problem, path: show(problem.path) })), projectIgnored };
}

/** For commands that run something: the settings, or the end with exit code 3 and every problem named. */
export function requireSettings(loaded: LoadedSettings): Settings {
  const errors = loaded.problems.filter((problem) => problem.severity === "error");
  if (errors.length === 0) return loaded.settings;
  throw new CruError("invalid_setting", errors.map(problemText).join("\n"), { hint: "`cru config explain KEY` says which file a setting comes from" });
}

/** The project's layer without what it would loosen. */
export function onlyTightening(project: Pick<FileLayer, "layer" | "problemAt">, own: Settings, hint: string): { layer: Layer; problems: Problem[] } {
  const loose = loosenings(project.layer.value, own);
  const refused = new Set(loose.map(({ path }) => path.join(".")));
  const value: Record<string, unknown> = {};
  for (const [path, inner] of entriesOf(project.layer.value)) if (!refused.has(path.join("."))) setAt(value, path, inner);
  return {
    layer: { ...project.layer, value: value as SettingsFile },
    problems: loose.map(({ path, message }) => project.problemAt(path, "value", { code: "setting.loosens", message, hint })),
  };
}
