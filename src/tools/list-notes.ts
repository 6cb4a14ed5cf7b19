import { z } from "zod";
import type { Tool } from "../contract/tool.ts";
import type { Kiln } from "../kiln/open-kiln.ts";
import prose from "./list-notes.md";

const inputSchema = z.object({ folder: z.string().max(4096).optional().describe("Relative to the workspace; without it, all notes") });
const MOST_NOTES = 500;

export function listNotesTool(deps: { kilnOf(workspace: string): Kiln }): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "list_notes",
    description: prose.trim(),
    input: inputSchema,
    needs: ["FilesystemRead"],
    changes: false,
    async run({ folder = "" }, { workspace, signal }) {
      const inside = folder === workspace ? "" : folder.startsWith(`${workspace}/`) ? folder.slice(workspace.length + 1) : folder;
      if (inside.startsWith("/") || inside.split("/").includes("..")) return { ok: false, output: "the folder is outside the workspace; write it relative to the workspace" };
      const kiln = deps.kilnOf(workspace);
      await kiln.refresh({ signal });
      const notes = kiln.list(inside);
      if (notes.length === 0) return { ok: true, output: inside === "" ? "there are no notes here" : `there are no notes in ${inside}; without folder all notes are listed` };
      const lines = notes.slice(0, MOST_NOTES).map(({ path, title, tags }) => `${path}: ${title}${tags.length === 0 ? "" : ` [${tags.join(", ")}]`}`);
      const more = notes.length > MOST_NOTES ? `\n[${notes.length - MOST_NOTES} more; give a folder, or use semantic_search]` : "";
      return { ok: true, output: lines.map((line) => line.replace(/\s+/g, " ")).join("\n") + more };
    },
  };
}
