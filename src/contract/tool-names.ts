/** The tools of an in-process agent, by the names that models and `requires_approval` use. */
export const TOOL_NAMES = [
  "read_note", "list_notes", "read_file", "list_files", "search_files", "semantic_search", "write_file", "edit_file", "run_command", "fetch_url",
  "database_query", "database_execute", "get_agent", "spawn_agent", "request_approval", "ask_user", "update_plan", "reflect",
] as const;

export type ToolName = (typeof TOOL_NAMES)[number];
