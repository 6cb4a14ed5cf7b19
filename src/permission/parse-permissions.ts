import { CruError } from "../contract/error.ts";
import { BASELINE, isPermission, PERMISSIONS, type Permission } from "../contract/permission.ts";
import { didYouMean } from "../lib/nearest.ts";

/** `FilesystemWrite,Shell` as an option's value. Without repetition, in the order in which people are shown them. */
export function parsePermissions(text: string, option: string): Permission[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  for (const word of words) {
    if (!isPermission(word)) throw new CruError("usage", `${option}: unknown permission '${word}'`, { hint: didYouMean(word, PERMISSIONS) });
  }
  return PERMISSIONS.filter((permission) => words.includes(permission));
}

/** The same for `--deny`: what every agent has cannot be denied. */
export function parseDenied(text: string, option: string): Permission[] {
  const denied = parsePermissions(text, option);
  const fixed = denied.find((permission) => (BASELINE as readonly Permission[]).includes(permission));
  if (fixed === undefined) return denied;
  throw new CruError("usage", `${option}: ${fixed} cannot be denied: every agent has it`, { hint: `leave ${BASELINE.join(" and ")} away` });
}
