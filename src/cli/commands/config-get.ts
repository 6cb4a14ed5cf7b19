import { openSettings } from "../../app/open-settings.ts";
import { settingValue } from "../../app/settings-explain.ts";
import { parseKey } from "../../config/setting-keys.ts";
import { inert } from "../../lib/inert.ts";
import { inline } from "../../lib/yaml-edit.ts";
import type { Run } from "../command.ts";
import { reportSettings } from "../report-settings.ts";

export const run: Run = async ({ args, options, cwd, env, io }) => {
  const path = args[0] === undefined ? [] : parseKey(args[0]);
  const loaded = openSettings({ cwd, env, trust: options.trust === true });
  const value = settingValue(loaded, path);
  io.out(options.json === true ? `${JSON.stringify(value)}\n` : asText(value));
  return reportSettings(loaded, io);
};

/** A section as YAML, one line per setting; a single text as it is, for use in scripts. */
function asText(value: unknown): string {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? block(value, "") : `${inert(typeof value === "string" ? value : inline(value))}\n`;
}

function block(value: object, indent: string): string {
  return Object.entries(value)
    .map(([key, inner]: [string, unknown]) => {
      const isSection = typeof inner === "object" && inner !== null && !Array.isArray(inner) && Object.keys(inner).length > 0;
      return isSection ? `${indent}${inert(inline(key))}:\n${block(inner, `${indent}  `)}` : `${indent}${inert(`${inline(key)}: ${inline(inner)}`)}\n`;
    })
    .join("");
}
