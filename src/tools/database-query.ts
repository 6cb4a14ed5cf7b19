import { z } from "zod";
import type { Tool } from "../contract/tool.ts";
import prose from "./database-query.md";
import { databaseFault, rowLines } from "./database-report.ts";
import { pathSchema } from "./path-input.ts";
import { type DatabaseDeps, runDatabase } from "./run-database.ts";

const inputSchema = z.object({ path: pathSchema, sql: z.string().min(1).max(100_000) });

export function databaseQueryTool(deps: DatabaseDeps): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "database_query",
    description: prose.trim(),
    input: inputSchema,
    needs: ["DatabaseRead"],
    changes: false,
    async run(input, { workspace, signal }) {
      try {
        const answer = await runDatabase("query", { ...input, workspace, signal }, deps);
        if (!answer.ok) return { ok: false, output: answer.message };
        if (!("columns" in answer)) return { ok: false, output: "no answer" };
        const more = answer.more ? "\n[there are more rows; narrow the query or use LIMIT and OFFSET]" : "";
        return { ok: true, output: `${answer.columns.join(" | ")}\n${answer.rows.length === 0 ? "(no rows)" : rowLines(answer.rows)}${more}` };
      } catch (error) {
        return databaseFault(error);
      }
    },
  };
}
