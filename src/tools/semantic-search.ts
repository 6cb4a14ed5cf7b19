import { z } from "zod";
import type { Tool } from "../contract/tool.ts";
import type { Kiln } from "../kiln/open-kiln.ts";
import prose from "./semantic-search.md";

const inputSchema = z.object({
  query: z.string().min(1).max(2000),
  limit: z.int().min(1).max(50).optional().describe("Notes to return, 8 unless told otherwise"),
});
const USUAL_LIMIT = 8;

export function semanticSearchTool(deps: { kilnOf(workspace: string): Kiln }): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "semantic_search",
    description: prose.trim(),
    input: inputSchema,
    needs: ["SemanticSearch"],
    changes: false,
    async run({ query, limit = USUAL_LIMIT }, { workspace, signal }) {
      const kiln = deps.kilnOf(workspace);
      const { notes } = await kiln.refresh({ signal });
      const found = await kiln.search(query, { limit, signal });
      if (found.length === 0) return { ok: true, output: notes === 0 ? "there are no notes here" : "no note is about this; try other words, or search_files for an exact text" };
      const blocks = found.map(({ path, line, heading, score, snippet }) => `${path}:${line} (${score.toFixed(2)})${heading === null ? "" : ` ${heading}`}\n  ${snippet}`);
      return { ok: true, output: blocks.join("\n") };
    },
  };
}
