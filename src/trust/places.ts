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
  if (flat === user.config) return true;
  return [user.agents, user.claudeAgents, builtin.agents, builtin.grimoires, builtin.spells].some((folder) => flat.startsWith(asPrefix(folder)));
}

/** The name of a file in the manifest: relative to the project, with slashes. Undefined for what is outside it. */
export function nameInProject(path: string, root: string): string | undefined {
  const flat = flattened(path);
  const prefix = asPrefix(root);
  return flat.startsWith(prefix) ? flat.slice(prefix.length).replaceAll(sep, "/") : undefined;
}

export function isInside(path: string, folder: string): boolean {
  return flattened(path).startsWith(asPrefix(folder));
}

/** Without `..`, so that no name can climb out. Lists of thousands of paths that are flat already are the rule. */
function flattened(path: string): string {
  const flat = !["//", "/./", "/../"].some((part) => path.includes(part)) && !["/", "/.", "/.."].some((end) => path.endsWith(end));
  return flat ? path : join(path);
}

function asPrefix(folder: string): string {
  return folder.endsWith(sep) ? folder : folder + sep;
}
