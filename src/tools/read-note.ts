import { z } from "zod";
import type { Tool } from "../contract/tool.ts";
import { nameOf } from "../kiln/parse-note.ts";
import type { Kiln } from "../kiln/open-kiln.ts";
import { nearest } from "../lib/nearest.ts";
import { locate } from "../lib/safe-path.ts";
import { readFileTool } from "./read-file.ts";
import prose from "./read-note.md";

const inputSchema = z.object({
  path: z.string().min(1).max(4096).describe("Path, name or [[link]] of a note"),
  lines: z.string().regex(/^\d{1,9}(?:-\d{0,9})?$/, 'expected lines such as "10-40", "10-" or "10"').optional(),
});

export function readNoteTool(deps: { kilnOf(workspace: string): Kiln }): Tool<z.infer<typeof inputSchema>> {
  const file = readFileTool();
  return {
    name: "read_note",
    description: prose.trim(),
    input: inputSchema,
    needs: ["FilesystemRead"],
    changes: false,
    async run({ path, lines }, context) {
      const read = (found: string) => file.run({ path: found, ...(lines === undefined ? {} : { lines }) }, context);
      const there = locate(context.workspace, path);
      if (there.ok ? there.kind === "file" : there.code === "outside") return read(path);
      const kiln = deps.kilnOf(context.workspace);
      await kiln.refresh({ signal: context.signal });
      const [first, ...others] = kiln.resolve(path);
      if (first === undefined) return { ok: false, output: missing(path, kiln) };
      if (others.length > 0) return { ok: false, output: `several notes are meant by ${path}; give one of these paths:\n${[first, ...others].slice(0, 20).join("\n")}` };
      return read(first);
    },
  };
}

function missing(path: string, kiln: Kiln): string {
  const names = new Map(kiln.list().map((note) => [nameOf(note.path), note.path]));
  const near = nearest(nameOf(path), [...names.keys()].slice(0, 5000));
  return `there is no note ${path}; ${near === undefined ? "list_notes and semantic_search show what is there" : `did you mean ${names.get(near) ?? near}?`}`;
}
