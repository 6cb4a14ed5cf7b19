import { join, sep } from "node:path";
import type { Paths } from "../config/paths.ts";

/** What of a project can make something run or change how it runs. Sessions, inbox, cache, logs and worktrees cannot, and are not here. */
export function trustedPlaces(paths: Paths): { folders: string[]; files: string[] } {
  const { project } = paths;
  return {
    folders: [project.agents, project.grimoires, project.spells, project.prompts, project.claudeAgents],
    files: [project.config, project.systemPrompt, project.mcp],
  };
}

/** What the user or the package wrote needs no trust. */
export function isOwn(path: string, paths: Paths): boolean {
  const { user, builtin } = paths;
  const flat = flattened(path);
  return flat === user.config || isBelow(flat, user.agents) || isBelow(flat, user.claudeAgents) || isBelow(flat, builtin.agents) || isBelow(flat, builtin.grimoires) || isBelow(flat, builtin.spells);
}

/** The name of a file in the manifest: relative to the project, with slashes. Undefined for what is outside it. */
export function nameInProject(path: string, root: string): string | undefined {
  const flat = flattened(path);
  if (!isBelow(flat, root)) return undefined;
  const name = flat.slice(root.endsWith(sep) ? root.length : root.length + 1);
  return sep === "/" ? name : name.replaceAll(sep, "/");
}

export function isInside(path: string, folder: string): boolean {
  return isBelow(flattened(path), folder);
}

/** Without `..`, so that no name can climb out. Lists of thousands of paths that are flat already are the rule. */
function flattened(path: string): string {
  return /\/\.{0,2}(?:\/|$)/.test(path) ? join(path) : path;
}

function isBelow(flat: string, folder: string): boolean {
  return flat.startsWith(folder) && (folder.endsWith(sep) || flat.startsWith(sep, folder.length));
}
