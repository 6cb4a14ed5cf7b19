import { z } from "zod";
import { CruError } from "../contract/error.ts";
import { settingsSchema } from "../contract/settings.ts";
import { didYouMean } from "../lib/nearest.ts";
import { branches, keysAt, schemaAt } from "../lib/schema-at.ts";

/** Every key that can be set, dotted; `queue.providers.*` stands for a map with names of the user's own. */
export function settingKeys(): string[] {
  return [...walk([])].filter((key) => key !== "$schema");
}

/** Sections too (`limits`), which hold keys but can be asked for as a whole. */
export function sectionKeys(): string[] {
  return [...new Set(settingKeys().flatMap((key) => key.split(".").map((_, i, parts) => parts.slice(0, i + 1).join("."))))].filter((key) => !key.endsWith("*"));
}

/** The parts of a dotted key, or a usage error with a suggestion. What follows a map's name is that entry's own name, dots and all. */
export function parseKey(key: string): string[] {
  const parts = key.split(".");
  const map = settingKeys().find((k) => k.endsWith(".*") && key.startsWith(k.slice(0, -1)) && key.length > k.length - 1);
  if (map !== undefined) return [...map.split(".").slice(0, -1), key.slice(map.length - 1)];
  if (key !== "$schema" && parts.every((p) => p !== "") && settingSchema(parts) !== undefined) return parts;
  throw new CruError("usage", `there is no setting '${key}'`, { hint: didYouMean(key, sectionKeys()) });
}

export function settingSchema(path: readonly string[]): z.core.$ZodType | undefined {
  return schemaAt(settingsSchema, path);
}

/** True for a section or map: something that holds keys. */
export function isSection(path: readonly string[]): boolean {
  const schema = settingSchema(path);
  return schema !== undefined && branches(schema).some((branch) => branch instanceof z.ZodObject || branch instanceof z.ZodRecord) && path[0] !== "notify" && path.length < 3;
}

function* walk(path: string[]): Generator<string> {
  for (const key of keysAt(settingsSchema, path)) {
    const here = [...path, key];
    const inner = branches(settingSchema(here) ?? settingsSchema);
    if (inner.some((branch) => branch instanceof z.ZodObject)) yield* walk(here);
    else yield inner.some((branch) => branch instanceof z.ZodRecord) ? `${here.join(".")}.*` : here.join(".");
  }
}
