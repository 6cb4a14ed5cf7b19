import { CruError } from "../contract/error.ts";
import { isPermission, type Permission, PERMISSIONS } from "../contract/permission.ts";
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
