import { z } from "zod";
import type { Tool } from "../contract/tool.ts";
import prose from "./database-execute.md";
import { changeLines, databaseFault } from "./database-report.ts";
import { pathSchema } from "./path-input.ts";
import { type DatabaseDeps, runDatabase, tryOnCopy } from "./run-database.ts";

const inputSchema = z.object({ path: pathSchema, sql: z.string().min(1).max(1_000_000) });

export function databaseExecuteTool(deps: DatabaseDeps): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "database_execute",
    description: prose.trim(),
    input: inputSchema,
    needs: ["DatabaseWrite"],
    changes: true,
    async run(input, { workspace, signal }) {
      try {
        const answer = await runDatabase("execute", { ...input, workspace, signal }, deps);
        if (!answer.ok) return { ok: false, output: `nothing was changed: ${answer.message}` };
        return { ok: true, output: "changes" in answer ? `done, ${answer.changes} rows changed` : "done" };
      } catch (error) {
        return databaseFault(error);
      }
    },
    async preview(input, { workspace, signal }) {
      const title = `change the database ${input.path}`;
      try {
        const answer = await tryOnCopy({ ...input, workspace, signal }, deps);
        const effect = !answer.ok ? `on a copy it fails: ${answer.message}` : "changes" in answer ? changeLines(answer.changes, answer.tables) : "";
        return { title, body: `${input.sql}\n\n${effect}`, reversible: false, impact: `changes ${input.path}: ${effect.split("\n")[0] ?? ""}` };
      } catch (error) {
        return { title, body: `${input.sql}\n\nit could not be tried on a copy: ${databaseFault(error).output}`, reversible: false, impact: `changes ${input.path}` };
      }
    },
  };
}
