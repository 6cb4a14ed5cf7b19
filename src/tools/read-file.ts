import { readSync } from "node:fs";
import { z } from "zod";
import type { Tool, ToolResult } from "../contract/tool.ts";
import { locate, withFile } from "../lib/safe-path.ts";
import { pathError } from "./path-error.ts";
import { pathSchema } from "./path-input.ts";
import prose from "./read-file.md";

const inputSchema = z.object({
  path: pathSchema,
  lines: z.string().regex(/^\d{1,9}(?:-\d{0,9})?$/, 'expected lines such as "10-40", "10-" or "10"').optional(),
});

const MOST_BYTES = 60_000;
const MOST_SCANNED = 256 * 2 ** 20;
const CHUNK = 1 << 20;

export function readFileTool(): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "read_file",
    description: prose.trim(),
    input: inputSchema,
    needs: ["FilesystemRead"],
    changes: false,
    async run({ path, lines }, { workspace }) {
      if (isSessionLock(workspace, path)) return { ok: false, output: `${path} is a lock of Crucible and cannot be read` };
      const { first, last } = range(lines);
      if (last < first) return { ok: false, output: `lines: ${lines} ends before it begins` };
      const read = withFile(workspace, path, (file, stat): ToolResult => {
        const part = readLines(file, first, last);
        if (part.binary) return { ok: false, output: `${path} is not a text file (${stat.size} bytes)` };
        if (stat.size > 0 && part.count === 0) return { ok: false, output: `${path} has no line ${first}${stat.size > MOST_SCANNED ? ` in its first ${MOST_SCANNED / 2 ** 20} MB` : "; it ends before"}` };
        return { ok: true, output: part.text + note(part, first, last, stat.size) };
      });
      return "code" in read ? pathError(read, workspace, path) : read;
    },
  };
}

type Part = { text: string; count: number; more: boolean; binary: boolean; cutLine: boolean };

/** Lines `first` to `last`, bounded, whatever the size of the file. */
function readLines(file: number, first: number, last: number): Part {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let line = 1;
  const buffer = Buffer.alloc(CHUNK);
  for (let position = 0; position < MOST_SCANNED && line <= last && keptBytes <= MOST_BYTES; ) {
    const length = readSync(file, buffer, 0, CHUNK, position);
    if (length === 0) break;
    const chunk = buffer.subarray(0, length);
    if (position === 0 && chunk.subarray(0, 8192).includes(0)) return { text: "", count: 0, more: false, binary: true, cutLine: false };
    position += length;
    let from = 0;
    while (line < first) {
      const end = chunk.indexOf(10, from);
      if (end < 0) break;
      line++;
      from = end + 1;
    }
    if (line < first) continue;
    let to = from;
    while (line <= last && to < length && keptBytes + to - from <= MOST_BYTES) {
      const end = chunk.indexOf(10, to);
      to = end < 0 ? length : end + 1;
      if (end >= 0) line++;
    }
    kept.push(Buffer.from(chunk.subarray(from, to)));
    keptBytes += to - from;
    // One byte more tells whether the file goes on.
    if (line > last || keptBytes > MOST_BYTES) return part(kept, to < length || readSync(file, buffer, 0, 1, position) > 0);
  }
  return part(kept, false);
}

function part(kept: Buffer[], goesOn: boolean): Part {
  const bytes = Buffer.concat(kept);
  let end = bytes.length;
  let cutLine = false;
  if (end > MOST_BYTES) {
    end = bytes.lastIndexOf(10, MOST_BYTES) + 1;
    cutLine = end === 0;
    if (cutLine) end = MOST_BYTES;
  }
  const text = bytes.subarray(0, end).toString("utf8");
  const count = text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const cut = end < bytes.length;
  return { text, count, more: cut || goesOn, binary: false, cutLine };
}

function note(part: Part, first: number, last: number, size: number): string {
  if (!part.more) return "";
  const next = first + part.count;
  const lead = part.text.endsWith("\n") ? "" : "\n";
  if (part.cutLine) return `${lead}[line ${first} is longer than ${MOST_BYTES} bytes and was cut; the file has ${size} bytes. Use search_files or run_command for the rest.]`;
  if (next > last) return "";
  return `${lead}[lines ${first}-${next - 1} of a file of ${size} bytes; read on with lines: "${next}-"]`;
}

function range(lines: string | undefined): { first: number; last: number } {
  if (lines === undefined) return { first: 1, last: Number.POSITIVE_INFINITY };
  const [from = "", to] = lines.split("-");
  const first = Math.max(1, Number(from));
  return { first, last: to === undefined ? first : to === "" ? Number.POSITIVE_INFINITY : Number(to) };
}

/** Closing a file frees every lock that this process holds on it, so the lock of a session is never even opened. */
function isSessionLock(workspace: string, path: string): boolean {
  const found = locate(workspace, path);
  return found.ok && /(?:^|\/)\.crucible\/sessions\/[^/]+\/\.lock$/.test(found.path);
}
