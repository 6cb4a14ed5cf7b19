import { RUNNERS } from "../contract/runner.ts";
import { CruError } from "../contract/error.ts";
import { isPermission, type Permission, PERMISSIONS } from "../contract/permission.ts";
import type { Settings } from "../contract/settings-defaults.ts";
import { didYouMean } from "../lib/nearest.ts";

/** `A,B` as permissions; a word that is none is the user's mistake. */
export function rightsOption(value: unknown, flag: string): Permission[] {
  const names = typeof value === "string" ? value.split(",").map((w) => w.trim()).filter((w) => w !== "") : [];
  return names.map((word) => {
    if (isPermission(word)) return word;
    throw new CruError("usage", `${flag}: unknown permission '${word}'`, { hint: didYouMean(word, PERMISSIONS) });
  });
}

export function textOption(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** What `--runner` takes. */
export function runnerOption(value: unknown): Settings["runner"] | undefined {
  if (value === undefined) return undefined;
  const names = ["auto", ...RUNNERS] as const;
  const found = names.find((name) => name === value);
  if (found === undefined) throw new CruError("usage", `there is no runner '${String(value)}'`, { hint: didYouMean(String(value), names) });
  return found;
}

export function usdOption(value: unknown, flag: string): number | undefined {
  if (value === undefined) return undefined;
  const n = Number(value);
  if (Number.isFinite(n) && n > 0) return n;
  throw new CruError("usage", `${flag} takes a number above 0, not '${String(value)}'`);
}
