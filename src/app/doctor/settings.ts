import { CruError } from "../../contract/error.ts";
import { problemText } from "../../contract/problem.ts";
import { type LoadedSettings, loadSettings } from "../../config/load-settings.ts";
import { openTrust } from "../../trust/open-trust.ts";
import { type Check, type DoctorInput, type Finding, finding } from "./check.ts";

const MOST_LINES = 10;

export const settingsCheck: Check = {
  id: "settings",
  look(input) {
    let loaded: LoadedSettings;
    try {
      loaded = load(input);
    } catch (error) {
      if (!(error instanceof CruError)) throw error;
      return [finding("settings", "fail", error.message, error.hint ?? "correct or unset the variable")];
    }
    const errors = loaded.problems.filter((p) => p.severity === "error");
    const found: Finding[] = loaded.problems.slice(0, MOST_LINES).map((p) =>
      finding("settings", p.severity === "error" ? "fail" : "warn", problemText({ ...p, hint: "" }), p.hint === "" ? "correct the file" : p.hint));
    if (loaded.problems.length > MOST_LINES) found.push(finding("settings", "info", `and ${loaded.problems.length - MOST_LINES} more problems`));
    if (errors.length === 0) found.push(finding("settings", "ok", `settings are valid (${sources(loaded)})`));
    if (loaded.projectIgnored) found.push(finding("settings.project", "info", "this project's settings are not used: you have not trusted them", "cru trust"));
    return found;
  },
};

function sources({ layers }: LoadedSettings): string {
  const used = layers.filter((layer) => layer.used && Object.keys(layer.value).length > 0).map((layer) => ({ user: "your file", project: "this project's file" })[layer.name as string] ?? layer.name);
  return used.length === 0 ? "built-in values" : `from ${used.join(", ")}`;
}

/** Undefined when the settings cannot be read at all; `settingsCheck` says why. */
export function settingsOf(input: DoctorInput): LoadedSettings | undefined {
  try {
    return load(input);
  } catch (error) {
    if (error instanceof CruError) return undefined;
    throw error;
  }
}

function load({ paths, env, trust }: DoctorInput): LoadedSettings {
  return loadSettings({ paths, env, isTrusted: openTrust(paths, env, { trust }).isTrusted });
}
