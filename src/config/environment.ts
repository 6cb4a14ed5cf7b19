import { CruError } from "../contract/error.ts";
import type { SettingsFile } from "../contract/settings.ts";
import type { Layer } from "./layer.ts";
import { setAt } from "./layer.ts";
import { normalise } from "./normalise.ts";
import type { Env } from "./paths.ts";
import { sectionKeys, settingKeys } from "./setting-keys.ts";
import { parseSettingValue } from "./setting-value.ts";

/** Names that mean something else than a setting, now or for scripts that we run. */
export const RESERVED_VARIABLES = /^CRU_(V|INPUT_|TRUST$|REQUIRE_SANDBOX$)/;

/** `CRU_LIMITS_BUDGET_USD` and its kind. An empty value counts as not set; other `CRU_*` names are nobody's business. */
export function environmentLayer(env: Env): Layer {
  const value: Record<string, unknown> = {};
  const variables = new Map<string, string>();
  const names = variableNames();
  for (const [variable, text] of Object.entries(env).sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1))) {
    if (text === undefined || text === "" || !variable.startsWith("CRU_") || RESERVED_VARIABLES.test(variable)) continue;
    const path = names.get(variable) ?? mapEntry(variable);
    if (path === undefined) continue;
    const parsed = parseSettingValue(path, text);
    if (!parsed.ok) throw new CruError("invalid_setting", `${variable}: ${parsed.message}`, parsed.hint === "" ? {} : { hint: parsed.hint });
    const one: Record<string, unknown> = {};
    setAt(one, path, parsed.value);
    const normal = normalise(one) as Record<string, unknown>;
    merge(value, normal);
    variables.set(path.join("."), variable);
  }
  return {
    name: "environment",
    value: value as SettingsFile,
    used: true,
    place: (key) => {
      for (let end = key.length; end > 0; end--) {
        const variable = variables.get(key.slice(0, end).join("."));
        if (variable !== undefined) return { layer: "environment", variable };
      }
      return { layer: "environment" };
    },
  };
}

export function variableName(path: readonly string[]): string {
  return `CRU_${path.join("_").replace(/[^A-Za-z0-9]/g, "_").toUpperCase()}`;
}

function variableNames(): Map<string, string[]> {
  return new Map([...sectionKeys(), ...settingKeys()].filter((key) => !key.endsWith("*")).map((key) => [variableName(key.split(".")), key.split(".")]));
}

/** `CRU_QUEUE_PROVIDERS_ANTHROPIC`: the rest of the name is the entry's, in small letters with dashes. */
function mapEntry(variable: string): string[] | undefined {
  for (const key of settingKeys()) {
    if (!key.endsWith(".*")) continue;
    const path = key.split(".").slice(0, -1);
    const prefix = `${variableName(path)}_`;
    const name = variable.slice(prefix.length).toLowerCase().replaceAll("_", "-");
    if (variable.startsWith(prefix) && /^[a-z0-9][a-z0-9-]*$/.test(name)) return [...path, name];
  }
  return undefined;
}

/** Longer names come later, so `CRU_SANDBOX_MODE` wins over `CRU_SANDBOX`. */
function merge(target: Record<string, unknown>, source: Record<string, unknown>, path: string[] = []): void {
  for (const [key, inner] of Object.entries(source)) {
    if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) merge(target, inner as Record<string, unknown>, [...path, key]);
    else setAt(target, [...path, key], inner);
  }
}
