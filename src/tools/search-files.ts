import { z } from "zod";
import type { Tool, ToolContext, ToolResult } from "../contract/tool.ts";
import { glob } from "../lib/glob.ts";
import { locate, readInside } from "../lib/safe-path.ts";
import { walkFiles } from "../lib/walk-files.ts";
import { openMatcher } from "./line-matcher.ts";
import { pathError } from "./path-error.ts";
import { pathSchema } from "./path-input.ts";
import prose from "./search-files.md";

const inputSchema = z.object({ pattern: z.string().min(1).max(2000), path: pathSchema.optional() });
const MOST_HITS = 200;
const MOST_FILE_BYTES = 4 * 2 ** 20;
const BATCH_BYTES = 2 * 2 ** 20;
const TIME_MS = 20_000;

export function searchFilesTool(deps: { timeMs?: number } = {}): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "search_files",
    description: prose.trim(),
    input: inputSchema,
    needs: ["FilesystemRead"],
    changes: false,
    async run({ pattern, path }, context) {
      const expression = parse(pattern);
      if (!expression.ok) return { ok: false, output: `the pattern is not a regular expression: ${expression.message}. Escape characters that you mean literally with a backslash.` };
      const files = filesOf(context.workspace, path);
      return "output" in files ? files : search(files.paths, expression, context, deps.timeMs ?? TIME_MS);
    },
  };
}

type Expression = { ok: true; source: string; flags: string };

function parse(pattern: string): Expression | { ok: false; message: string } {
  const ignoreCase = pattern.startsWith("(?i)");
  const source = ignoreCase ? pattern.slice(4) : pattern;
  const flags = ignoreCase ? "i" : "";
  try {
    return { ok: true, source: new RegExp(source, flags).source, flags };
  } catch (error) {
    return { ok: false, message: (error as Error).message };
  }
}

function filesOf(workspace: string, path: string | undefined): { paths: Iterable<string> } | ToolResult {
  if (path === undefined || path === "." || path === "./") return { paths: walkFiles(workspace) };
  const place = locate(workspace, path);
  if (!place.ok) return pathError(place, workspace, path);
  if (place.kind === "folder") return { paths: walkFiles(workspace, place.path === "." ? "" : place.path) };
  if (place.kind === "file") return { paths: [place.path] };
  const matches = /[*?[{]/.test(path) ? glob(path) : undefined;
  if (matches === undefined) return pathError({ ok: false, code: "missing", message: `${path} does not exist` }, workspace, path);
  return { paths: only(walkFiles(workspace), matches) };
}

function* only(paths: Iterable<string>, matches: (path: string) => boolean): Generator<string> {
  for (const path of paths) if (matches(path)) yield path;
}

async function search(paths: Iterable<string>, expression: Expression, context: ToolContext, timeMs: number): Promise<ToolResult> {
  const matcher = openMatcher(expression, { timeMs, mostHits: MOST_HITS, signal: context.signal });
  const hits: string[] = [];
  let skipped = 0;
  try {
    for (const batch of batches(paths, context.workspace, () => skipped++)) {
      const answer = await matcher.match(batch);
      if (!answer.ok) return { ok: false, output: answer.reason === "aborted" ? "interrupted" : `the search took longer than ${timeMs / 1000} s and was stopped; write a simpler pattern or narrow the path` };
      hits.push(...answer.hits);
      if (hits.length > MOST_HITS) break;
    }
  } finally {
    await matcher.close();
  }
  const large = skipped === 0 ? "" : `\n[${skipped} files over ${MOST_FILE_BYTES / 2 ** 20} MB were not searched]`;
  if (hits.length === 0) return { ok: true, output: `no hit${large}` };
  const more = hits.length > MOST_HITS ? `\n[more than ${MOST_HITS} hits; narrow the pattern or the path]` : "";
  return { ok: true, output: hits.slice(0, MOST_HITS).join("\n") + more + large };
}

function* batches(paths: Iterable<string>, workspace: string, onLarge: () => void): Generator<{ path: string; text: string }[]> {
  let batch: { path: string; text: string }[] = [];
  let bytes = 0;
  for (const path of paths) {
    const read = readInside(workspace, path, { maxBytes: MOST_FILE_BYTES });
    if (!read.ok || read.bytes.subarray(0, 8192).includes(0)) continue;
    if (read.size > MOST_FILE_BYTES) {
      onLarge();
      continue;
    }
    batch.push({ path, text: read.bytes.toString("utf8") });
    bytes += read.bytes.length;
    if (bytes >= BATCH_BYTES || batch.length >= 500) {
      yield batch;
      batch = [];
      bytes = 0;
    }
  }
  if (batch.length > 0) yield batch;
}
