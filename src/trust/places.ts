import { join, relative, sep } from "node:path";
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
  if (path === user.config) return true;
  return [user.agents, user.claudeAgents, builtin.agents, builtin.grimoires, builtin.spells].some((folder) => isInside(path, folder));
}

/** The name of a file in the manifest: relative to the project, with slashes. Undefined for what is outside it. */
export function nameInProject(path: string, root: string): string | undefined {
  return isInside(path, root) ? relative(root, path).split(sep).join("/") : undefined;
}

export function isInside(path: string, folder: string): boolean {
  // `join` also flattens `..`, so that no name can climb out; it is spared where there is nothing to flatten, for lists of thousands.
  const flat = NOT_FLAT.test(path) ? join(path) : path;
  return flat.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** An empty, `.` or `..` part, or a slash at the end. */
const NOT_FLAT = /\/\.{0,2}(?:\/|$)/;
