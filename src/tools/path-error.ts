import { basename, dirname } from "node:path";
import type { ToolResult } from "../contract/tool.ts";
import { nearest } from "../lib/nearest.ts";
import { listInside, type PathFault } from "../lib/safe-path.ts";

/** What went wrong with a path and what the model can do about it. */
export function pathError(fault: PathFault, workspace: string, path?: string): ToolResult {
  return { ok: false, output: `${fault.message}${advice(fault, workspace, path)}` };
}

function advice(fault: PathFault, workspace: string, path: string | undefined): string {
  if (fault.code === "outside") return "; give a path inside the workspace, relative to it";
  if (fault.code === "not_a_file") return "; use list_files to see what is in a folder";
  if (fault.code !== "missing") return "";
  const near = path === undefined ? undefined : neighbour(workspace, path);
  return near === undefined ? "; list_files shows what is there" : `; did you mean ${near}?`;
}

function neighbour(workspace: string, path: string): string | undefined {
  const folder = dirname(path);
  const listed = listInside(workspace, folder);
  const name = listed.ok ? nearest(basename(path), listed.entries.slice(0, 1000).map((entry) => entry.name)) : undefined;
  return name === undefined ? undefined : folder === "." ? name : `${folder}/${name}`;
}
