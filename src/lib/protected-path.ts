import { realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { lexical, locate } from "./safe-path.ts";

/** What configures agents, git and this program: writing there always asks, and commands see it read-only. */
export const PROTECTED_NAMES = [".git", ".crucible", ".coven", ".claude", ".mcp.json", ".beads"] as const;

/** Whether a path leads into a protected one, by its letters or by where its links end. `.git` counts at every depth. */
export function isProtected(workspace: string, path: string): boolean {
  const found = locate(workspace, path);
  const places = [lexical(workspace, path), ...(found.ok ? [found.path] : [])];
  return places.some(hasProtectedName) || (found.ok && isInRealProtected(workspace, found.path));
}

/** By its letters alone, so that no link can change the answer between the question and the act. */
export function isNamedProtected(workspace: string, path: string): boolean {
  return hasProtectedName(lexical(workspace, path));
}

/** Why a path that was not named as protected may not end in `resolved`; for `writeInside`. */
export function refuseHiddenProtected(workspace: string, path: string): (resolved: string) => string | undefined {
  if (isNamedProtected(workspace, path)) return () => undefined;
  return (resolved) =>
    hasProtectedName(resolved) || isInRealProtected(workspace, resolved) ? `${path} leads through a link into a protected path; name the protected path itself` : undefined;
}

function hasProtectedName(path: string): boolean {
  const names = path.split(sep).map(fold);
  return names.includes(".git") || (PROTECTED_NAMES as readonly string[]).includes(names[0] ?? "");
}

/** A protected name may itself be a link to another folder of the workspace. */
function isInRealProtected(workspace: string, path: string): boolean {
  const target = join(realpathSync(workspace), path);
  return PROTECTED_NAMES.some((name) => {
    const real = realOf(join(workspace, name));
    return real !== undefined && (target === real || target.startsWith(real + sep));
  });
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Some file systems ignore case, some ignore characters that nobody sees; `git~1` is `.git` on others. */
function fold(name: string): string {
  const plain = name.normalize("NFKC").replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff]/g, "").replace(/[. ]+$/, "").toLowerCase();
  return /^git~\d+$/.test(plain) ? ".git" : plain;
}
