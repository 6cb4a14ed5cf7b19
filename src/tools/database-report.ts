import { CruError } from "../contract/error.ts";
import type { ToolResult } from "../contract/tool.ts";
import type { Row, TableChange } from "./database-script.ts";

export function rowLines(rows: readonly Row[]): string {
  return rows.map((row) => row.map((value) => (value === null ? "NULL" : typeof value === "string" && /[\n|]/.test(value) ? JSON.stringify(value) : String(value))).join(" | ")).join("\n");
}

/** What a person reads before agreeing: how many rows, in which tables, and the first of them. */
export function changeLines(changes: number, tables: readonly TableChange[]): string {
  const lines = tables.map((change) => {
    const head = `${change.table}: ${change.rows_before} → ${change.rows_after} rows`;
    const removed = change.removed.map((row) => `  - ${rowLines([row])}`);
    const added = change.added.map((row) => `  + ${rowLines([row])}`);
    return [head, ...removed, ...added].join("\n");
  });
  return [`tried on a copy: ${changes} rows changed`, ...lines].join("\n");
}

/** No sandbox, a file that is too large: the model is told; a bug is not hidden. */
export function databaseFault(error: unknown): ToolResult {
  if (!(error instanceof CruError)) throw error;
  return { ok: false, output: `${error.message}${error.hint === undefined ? "" : ` (${error.hint})`}` };
}
