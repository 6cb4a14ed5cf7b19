import { TOOL_NAMES } from "../contract/tool-names.ts";
import { locate } from "../lib/safe-path.ts";

/** What is wrong with a path that a person put into one of our own tools' calls, as the tool itself would say it; undefined when nothing is. */
export function changedPathFault(tool: string, set: Readonly<Record<string, unknown>>, workspace: string): string | undefined {
  if (typeof set.path !== "string" || !(TOOL_NAMES as readonly string[]).includes(tool)) return undefined;
  const found = locate(workspace, set.path);
  // Whether it exists, and as what, may still change until the call runs.
  return !found.ok && ["outside", "refused", "invalid", "loop"].includes(found.code) ? `path: ${found.message}` : undefined;
}
