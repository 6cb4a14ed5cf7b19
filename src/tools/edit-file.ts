import { z } from "zod";
import type { Tool } from "../contract/tool.ts";
import { countLines, unifiedDiff } from "../lib/diff.ts";
import { refuseHiddenProtected } from "../lib/protected-path.ts";
import { readInside, writeInside } from "../lib/safe-path.ts";
import { pathError } from "./path-error.ts";
import { pathSchema } from "./path-input.ts";
import prose from "./edit-file.md";

const MOST_BYTES = 10_000_000;
const inputSchema = z.object({ path: pathSchema, old: z.string().min(1).max(1_000_000), new: z.string().max(1_000_000) });
type Input = z.infer<typeof inputSchema>;

export function editFileTool(): Tool<Input> {
  return {
    name: "edit_file",
    description: prose.trim(),
    input: inputSchema,
    needs: ["FilesystemWrite"],
    changes: true,
    async run(input, { workspace }) {
      const edit = prepare(input, workspace);
      if (!edit.ok) return edit;
      const wrote = writeInside(workspace, input.path, edit.after, { refuse: refuseHiddenProtected(workspace, input.path) });
      if (!wrote.ok) return pathError(wrote, workspace, input.path);
      return { ok: true, output: `edited ${wrote.path} at line ${edit.line}`, diff: diffOf(edit, input.path) };
    },
    async preview(input, { workspace }) {
      const edit = prepare(input, workspace);
      const body = edit.ok ? diffOf(edit, input.path) : edit.output;
      const impact = edit.ok ? `changes ${input.path} (${countLines(body)})` : "nothing: the edit does not fit the file";
      return { title: `edit ${input.path}`, body: body || "(no change)", reversible: true, impact };
    },
  };
}

type Prepared = { ok: true; before: Buffer; after: Buffer; line: number } | { ok: false; output: string };

function diffOf({ before, after }: Extract<Prepared, { ok: true }>, path: string): string {
  return unifiedDiff(before.toString("utf8"), after.toString("utf8"), { from: path, to: path });
}

/** Works on bytes, so that what is not valid UTF-8 elsewhere in the file stays as it is. */
function prepare(input: Input, workspace: string): Prepared {
  const read = readInside(workspace, input.path, { maxBytes: MOST_BYTES });
  if (!read.ok) return { ok: false, output: pathError(read, workspace, input.path).output };
  if (read.size > MOST_BYTES) return fault(`${input.path} is larger than ${MOST_BYTES / 1e6} MB; change it with run_command`);
  if (input.old === input.new) return fault("old and new are the same; nothing to change");
  const [old, replacement] = lineEndings(read.bytes, input);
  const at = read.bytes.indexOf(old);
  if (at < 0) return fault(notFound(read.bytes.toString("utf8"), input));
  const second = read.bytes.indexOf(old, at + 1);
  if (second >= 0) {
    return fault(`old stands more than once in ${input.path} (lines ${lineAt(read.bytes, at)} and ${lineAt(read.bytes, second)}, perhaps more); add the lines around the place that you mean`);
  }
  return { ok: true, before: read.bytes, after: Buffer.concat([read.bytes.subarray(0, at), replacement, read.bytes.subarray(at + old.length)]), line: lineAt(read.bytes, at) };
}

/** A model writes \n; in a file with \r\n that is meant as the file's own line end. */
function lineEndings(bytes: Buffer, input: Input): [Buffer, Buffer] {
  const plain = Buffer.from(input.old);
  if (bytes.includes(plain) || !input.old.includes("\n") || !bytes.includes("\r\n")) return [plain, Buffer.from(input.new)];
  const windows = (text: string): Buffer => Buffer.from(text.replace(/\r?\n/g, "\r\n"));
  return [windows(input.old), windows(input.new)];
}

function notFound(text: string, input: Input): string {
  const wanted = input.old.split("\n").find((line) => line.trim() !== "")?.trim() ?? "";
  const line = text.split("\n").findIndex((l) => l.trim() === wanted);
  const hint = line >= 0 ? ` Line ${line + 1} is the same but for its spaces; copy it exactly.` : " Read the file again and copy the text exactly.";
  return `old does not stand in ${input.path}.${hint}`;
}

function lineAt(bytes: Buffer, offset: number): number {
  let line = 1;
  for (let at = bytes.indexOf(10); at >= 0 && at < offset; at = bytes.indexOf(10, at + 1)) line++;
  return line;
}

function fault(output: string): Prepared {
  return { ok: false, output };
}
