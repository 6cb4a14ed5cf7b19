import { type LoadedSettings, loadSettings } from "../config/load-settings.ts";
import { type Env, findPaths, type Paths } from "../config/paths.ts";
import type { SettingsFile } from "../contract/settings.ts";
import { openTrust, type Trust } from "../trust/open-trust.ts";

export type OpenedSettings = LoadedSettings & { paths: Paths; trust: Trust };

/** Where we are, what is trusted here, and what the settings are. Commands that run something pass the result through `requireSettings`. */
export function openSettings(input: { cwd: string; env: Env; trust?: boolean; flags?: SettingsFile }): OpenedSettings {
  const paths = findPaths(input.cwd, input.env);
  const trust = openTrust(paths, input.env, { trust: input.trust });
  const flags = input.flags === undefined ? {} : { flags: input.flags };
  return { ...loadSettings({ paths, env: input.env, ...flags, isTrusted: trust.isTrusted }), paths, trust };
}
