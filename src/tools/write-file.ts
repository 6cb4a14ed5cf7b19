import { z } from "zod";
import type { Tool } from "../contract/tool.ts";
import { countLines, unifiedDiff } from "../lib/diff.ts";
import { refuseHiddenProtected } from "../lib/protected-path.ts";
import { readInside, writeInside } from "../lib/safe-path.ts";
import { pathError } from "./path-error.ts";
import { pathSchema } from "./path-input.ts";
import prose from "./write-file.md";

const MOST_BYTES = 5_000_000;
const inputSchema = z.object({ path: pathSchema, content: z.string().max(MOST_BYTES) });

export function writeFileTool(): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "write_file",
    description: prose.trim(),
    input: inputSchema,
    needs: ["FilesystemWrite"],
    changes: true,
    async run({ path, content }, { workspace }) {
      const { diff } = diffOf(path, content, workspace);
      const wrote = writeInside(workspace, path, content, { refuse: refuseHiddenProtected(workspace, path) });
      if (!wrote.ok) return pathError(wrote, workspace);
      return { ok: true, output: `${wrote.created ? "created" : "replaced"} ${wrote.path} (${Buffer.byteLength(content)} bytes)`, diff };
    },
    async preview({ path, content }, { workspace }) {
      const { diff, isNew } = diffOf(path, content, workspace);
      return { title: `write ${path}`, body: diff || "(no change)", reversible: true, impact: `${isNew ? "creates" : "replaces"} ${path} (${countLines(diff)})` };
    },
  };
}

function diffOf(path: string, content: string, workspace: string): { diff: string; isNew: boolean } {
  const before = readInside(workspace, path, { maxBytes: MOST_BYTES });
  const old = before.ok ? before.bytes.toString("utf8") : "";
  return { diff: unifiedDiff(old, content, { from: before.ok ? path : "/dev/null", to: path }), isNew: !before.ok };
}
