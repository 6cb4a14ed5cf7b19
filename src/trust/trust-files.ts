import type { Paths } from "../config/paths.ts";
import { sha256 } from "../lib/sha256.ts";
import { readManifest, writeManifest } from "./manifest.ts";
import { nameInProject } from "./places.ts";

export type WrittenFile = { path: string; content: string | Uint8Array };

/** For files that a command of ours has just written on the user's word: adds exactly these bytes to what is trusted, nothing else of the project. */
export function trustFiles(paths: Paths, written: readonly WrittenFile[]): void {
  const files = new Map(readManifest(paths)?.files);
  const contents: Uint8Array[] = [];
  for (const { path, content } of written) {
    const name = nameInProject(path, paths.root);
    if (name === undefined) continue;
    const bytes = Buffer.from(content);
    files.set(name, sha256(bytes));
    contents.push(bytes);
  }
  if (contents.length > 0) writeManifest(paths, files, contents);
}
