import { isProtected } from "../../lib/protected-path.ts";

export type Gate = { ask: boolean; reversible: boolean; reason: string };

const FREE: Gate = { ask: false, reversible: true, reason: "" };

/** What asks even when no definition says so: protected paths, commands outside a sandbox, the network, database writes, publishing. */
export function defaultGate(tool: string, input: unknown, context: { workspace: string; sandboxed: boolean }): Gate {
  const fields = typeof input === "object" && input !== null ? (input as Record<string, unknown>) : {};
  if (tool === "write_file" || tool === "edit_file") {
    return isProtected(context.workspace, String(fields.path)) ? { ask: true, reversible: true, reason: "The path belongs to git, Crucible or another tool's settings." } : FREE;
  }
  if (tool === "run_command") {
    if (!context.sandboxed) return { ask: true, reversible: false, reason: "There is no sandbox: the command can do whatever you can do." };
    return /\bgit\s+(?:-\S+\s+)*push\b|\bgh\s+pr\s+create\b/.test(String(fields.command)) ? { ask: true, reversible: false, reason: "It publishes something." } : FREE;
  }
  if (tool === "fetch_url") return { ask: true, reversible: true, reason: "It reaches out to the network." };
  if (tool === "database_execute") return { ask: true, reversible: false, reason: "It changes a database, and that cannot be undone." };
  return FREE;
}
