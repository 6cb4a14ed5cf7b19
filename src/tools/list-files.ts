import { z } from "zod";
import type { Tool } from "../contract/tool.ts";
import { glob } from "../lib/glob.ts";
import { walkFiles } from "../lib/walk-files.ts";
import prose from "./list-files.md";

const inputSchema = z.object({ pattern: z.string().min(1).max(1000) });
const MOST_FILES = 1000;
const MOST_VISITED = 200_000;

export function listFilesTool(): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "list_files",
    description: prose.trim(),
    input: inputSchema,
    needs: ["FilesystemRead"],
    changes: false,
    async run({ pattern }, { workspace, signal }) {
      const inside = pattern.startsWith(`${workspace}/`) ? pattern.slice(workspace.length + 1) : pattern;
      if (inside.startsWith("/") || inside.split("/").includes("..")) return { ok: false, output: "the pattern leads out of the workspace; write it relative to the workspace" };
      // A folder alone means what is in it.
      const matches = glob(inside === "." ? "**" : inside.endsWith("/") ? `${inside}**` : inside);
      if (matches === undefined) return { ok: false, output: "the pattern has too many alternatives; write a simpler one" };
      const found: string[] = [];
      let visited = 0;
      for (const path of walkFiles(workspace)) {
        if (++visited > MOST_VISITED || found.length > MOST_FILES || signal.aborted) break;
        if (matches(path)) found.push(path);
        if (visited % 2000 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      if (found.length === 0) return { ok: true, output: `no file matches ${pattern}${inside.includes("/") ? "" : `; **/${inside} looks in every folder`}` };
      const more = found.length > MOST_FILES || visited > MOST_VISITED;
      return { ok: true, output: `${found.slice(0, MOST_FILES).join("\n")}${more ? "\n[there are more; write a narrower pattern]" : ""}` };
    },
  };
}
