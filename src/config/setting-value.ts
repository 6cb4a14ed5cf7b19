import { z } from "zod";
import { branches } from "../lib/schema-at.ts";
import { schemaFaults } from "../lib/schema-faults.ts";
import { readYaml } from "../lib/yaml.ts";
import { normalise } from "./normalise.ts";
import { ownFaults } from "./own-faults.ts";
import { settingSchema } from "./setting-keys.ts";
import { setAt } from "./layer.ts";
import { settingsSchema } from "../contract/settings.ts";

export type ParsedValue = { ok: true; value: unknown } | { ok: false; message: string; hint: string };

/** Text from a variable or a command line as the value that the setting's schema wants: `2h`, `null`, `Shell,NetworkAccess`, `[a, b]`, `{mode: off}`. */
export function parseSettingValue(path: readonly string[], text: string): ParsedValue {
  const schema = settingSchema(path) as z.ZodType | undefined;
  const all = readings(text);
  const fitting = all.findIndex((reading) => schema?.safeParse(reading).success === true);
  const wantsList = schema !== undefined && branches(schema).some((branch) => branch instanceof z.ZodArray);
  const value = fitting >= 0 ? all[fitting] : wantsList && !isFlow(text) ? all.at(-1) : all[0];
  const written: Record<string, unknown> = {};
  setAt(written, path, value);
  const layer = normalise(written);
  const fault = schemaFaults(settingsSchema, layer)[0] ?? ownFaults(layer)[0];
  return fault === undefined ? { ok: true, value } : { ok: false, message: fault.message, hint: fault.hint };
}

/** All that a text can mean, the most likely first, a comma list last. */
function readings(text: string): unknown[] {
  const trimmed = text.trim();
  const all: unknown[] = [];
  if (trimmed === "null" || trimmed === "~") all.push(null);
  const flow = isFlow(text) ? readYaml(trimmed).value : undefined;
  if (flow !== undefined) all.push(flow);
  all.push(text);
  if (/^[+-]?\d+(\.\d+)?$/.test(trimmed)) all.push(Number(trimmed));
  if (trimmed === "true" || trimmed === "false") all.push(trimmed === "true");
  all.push(trimmed.split(",").map((part) => part.trim()).filter((part) => part !== ""));
  return all;
}

function isFlow(text: string): boolean {
  return /^\s*[[{]/.test(text);
}
