import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { dirname } from "node:path";
import { parseFileLayer, readFileLayer } from "../config/file-layer.ts";
import { onlyTightening } from "../config/load-settings.ts";
import { mergeSettings } from "../config/merge-settings.ts";
import { type Env, findPaths, homeFolder, type Paths } from "../config/paths.ts";
import { parseKey } from "../config/setting-keys.ts";
import { parseSettingValue } from "../config/setting-value.ts";
import { CruError } from "../contract/error.ts";
import type { Problem } from "../contract/problem.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { shownPath } from "../lib/shown-path.ts";
import { isInside } from "../lib/read-guarded.ts";
import { setInYaml } from "../lib/yaml-edit.ts";
import { readYaml } from "../lib/yaml.ts";
import { sha256 } from "../lib/sha256.ts";
import { openTrust } from "../trust/open-trust.ts";
import { trustFiles } from "../trust/trust-files.ts";

export type SetSetting = { cwd: string; env: Env; key: string; text: string; project: boolean };
/** `trusted` is false when the project's file was not trusted before and so is not used now. */
export type SetResult = { key: string; value: unknown; file: string; path: string; trusted: boolean; otherProblems: Problem[] };

/** Writes one setting into the user's file, or the project's. Everything is checked before a byte is written. */
export async function setSetting(input: SetSetting): Promise<SetResult> {
  const paths = findPaths(input.cwd, input.env);
  const key = parseKey(input.key);
  const parsed = parseSettingValue(key, input.text);
  if (!parsed.ok) throw new CruError("invalid_setting", `${input.key}: ${parsed.message}`, parsed.hint === "" ? {} : { hint: parsed.hint });
  if (input.project && paths.root === homeFolder(input.env)) {
    throw new CruError("usage", "your home folder is not a project", { hint: "leave --project away to set it for every project" });
  }
  const path = input.project ? paths.project.config : paths.user.config;
  const file = shownPath(path, { root: paths.root, home: homeFolder(input.env) });
  const target = writableTarget(path, input.project ? paths.root : undefined, file);
  const before = textOf(target, file);
  const edit = setInYaml(before ?? "", ...sandboxForm(before ?? "", key, parsed.value));
  if (!edit.ok) throw new CruError("invalid_setting", `${file} was not changed: ${edit.reason}`, { hint: `change '${input.key}' there with an editor` });
  const otherProblems = checked(edit.text, { ...input, path, file, at: key, paths });
  const trust = openTrust(paths, {});
  const trusted = !input.project || before === undefined || trust.isTrusted(path, sha256(before));
  atomicWrite(target, edit.text, input.project ? {} : { mode: 0o600, folderMode: 0o700 });
  if (input.project && trusted) await trustFiles(paths, [{ path, content: edit.text }]);
  return { key: input.key, value: parsed.value, file, path, trusted, otherProblems };
}

/** What is wrong with the key is the end; what was wrong with others before is only told. */
function checked(text: string, input: SetSetting & { path: string; file: string; at: string[]; paths: Paths }): Problem[] {
  const layer = parseFileLayer(input.project ? "project" : "user", input.path, text);
  const problems = [...layer.problems];
  if (input.project) {
    const user = readFileLayer("user", input.paths.user.config, "/");
    const own = mergeSettings(user === undefined ? [] : [user.layer]).settings;
    problems.push(...onlyTightening(layer, own, `set it for yourself: \`cru config set ${input.key} VALUE\` without --project`).problems);
  }
  const shown = problems.map((problem) => ({ ...problem, path: input.file }));
  const about = shown.find(({ field }) => `${field}.`.startsWith(`${input.at.join(".")}.`));
  if (about !== undefined) throw new CruError("invalid_setting", `${about.field}: ${about.message}`, about.hint === "" ? {} : { hint: about.hint });
  return shown;
}

/** `sandbox` may stand there as a bare word, which has no place for a second key. */
function sandboxForm(text: string, key: string[], value: unknown): [string[], unknown] {
  const [section, field] = key;
  if (section !== "sandbox") return [key, value];
  const written = (readYaml(text).value as { sandbox?: unknown } | null | undefined)?.sandbox;
  if (field === undefined && typeof value === "string" && typeof written === "object" && written !== null) return [["sandbox", "mode"], value];
  if (field === undefined || typeof written !== "string") return [key, value];
  return [["sandbox"], field === "mode" ? value : { mode: written, [field]: value }];
}

/** A user's file may be a link into their dotfiles: what it leads to is written. A project's may not lead out of the project. */
function writableTarget(path: string, root: string | undefined, file: string): string {
  const folder = dirname(path);
  const outside = new CruError("invalid_setting", `${file} leads out of the project; nothing is written through it`, { hint: "remove the link" });
  if (root !== undefined && exists(folder) && !isInside(realpathSync(folder), root)) throw outside;
  if (!exists(path)) return path;
  try {
    const real = realpathSync(path);
    if (root !== undefined && !isInside(real, root)) throw outside;
    return real;
  } catch (error) {
    if (error instanceof CruError) throw error;
    throw new CruError("invalid_setting", `${file} is a link to nothing`, { hint: "remove the link", cause: error });
  }
}

function textOf(path: string, file: string): string | undefined {
  if (!exists(path)) return undefined;
  const bytes = readFileSync(path);
  // What does not survive the way to text and back would be damaged by the edit.
  if (!Buffer.from(bytes.toString("utf8")).equals(bytes)) throw new CruError("invalid_setting", `${file} is not UTF-8 text`, { hint: "save it as UTF-8" });
  return bytes.toString("utf8");
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
