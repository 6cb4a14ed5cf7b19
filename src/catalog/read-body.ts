import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import type { Entry } from "../contract/catalog.ts";
import { CruError } from "../contract/error.ts";
import { splitFrontmatter, trimmedBody } from "../lib/frontmatter.ts";
import { readGuarded } from "../lib/read-guarded.ts";
import { sha256 } from "../lib/sha256.ts";

const MAX_BYTES = 1024 * 1024;

/** The text below the frontmatter. It is not kept in the catalog; the file is read again and must still be the one that was loaded. */
export function readBody(entry: Pick<Entry<unknown>, "path" | "hash">): string {
  return trimmedBody(splitFrontmatter(readSource(entry)).body);
}

/** The whole file as text. */
export function readSource(entry: Pick<Entry<unknown>, "path" | "hash">): string {
  const read = readGuarded(entry.path, realFolder(entry.path), Buffer.allocUnsafe(MAX_BYTES + 1));
  if (!read.ok || sha256(read.bytes) !== entry.hash) {
    throw new CruError("invalid_definition", `${entry.path} changed while it was being read`, { hint: "run the command again" });
  }
  return read.bytes.toString("utf8");
}

function realFolder(path: string): string {
  try {
    return realpathSync(dirname(path));
  } catch {
    return dirname(path);
  }
}
