import type { Permission } from "../../contract/permission.ts";

/** The CLI's own tools that an agent may be given, and the right that each needs. A tool that is not here is not offered. */
export const TOOL_RIGHTS: Readonly<Record<string, readonly Permission[]>> = {
  Read: ["FilesystemRead"],
  Glob: ["FilesystemRead"],
  Grep: ["FilesystemRead"],
  LS: ["FilesystemRead"],
  Write: ["FilesystemWrite"],
  Edit: ["FilesystemWrite"],
  MultiEdit: ["FilesystemWrite"],
  NotebookEdit: ["FilesystemWrite"],
  Bash: ["Shell"],
  BashOutput: ["Shell"],
  KillShell: ["Shell"],
  TaskStop: ["Shell"],
  WebFetch: ["NetworkAccess"],
  WebSearch: ["NetworkAccess"],
  Task: [],
  Agent: [],
  TodoWrite: [],
  AskUserQuestion: [],
  StructuredOutput: [],
};

export const EDIT_TOOLS = ["Write", "Edit", "MultiEdit", "NotebookEdit"];
/** Starts an agent of the CLI's own. */
export const SPAWN_TOOLS = ["Task", "Agent"];

/** The same tools under the names that agents of this process know them by; `requires_approval` may name either. */
const OUR_NAMES: Readonly<Record<string, string>> = {
  Bash: "run_command", Write: "write_file", Edit: "edit_file", MultiEdit: "edit_file", Read: "read_file", WebFetch: "fetch_url", Glob: "list_files", Grep: "search_files",
  AskUserQuestion: "ask_user", Task: "spawn_agent", Agent: "spawn_agent",
};

export type ToolPolicy = { permissions: readonly Permission[]; depth: number };

export function mayUse(tool: string, policy: ToolPolicy): boolean {
  if (SPAWN_TOOLS.includes(tool) && policy.depth > 0) return false;
  return (TOOL_RIGHTS[tool] ?? []).every((right) => policy.permissions.includes(right));
}

export function offeredTools(policy: ToolPolicy): { offered: string[]; disallowed: string[] } {
  const names = Object.keys(TOOL_RIGHTS);
  return { offered: names.filter((tool) => mayUse(tool, policy)), disallowed: names.filter((tool) => !mayUse(tool, policy)) };
}

/** What `requires_approval` may call the tool: its own name, or ours. */
export function namesOf(tool: string): string[] {
  const ours = OUR_NAMES[tool];
  return ours === undefined ? [tool] : [tool, ours];
}
