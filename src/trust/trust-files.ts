import type { Paths } from "../config/paths.ts";
import { sha256 } from "../lib/sha256.ts";
import { alone } from "./alone.ts";
import { readManifest, writeManifest } from "./manifest.ts";
import { nameInProject } from "./places.ts";

export type WrittenFile = { path: string; content: string | Uint8Array };

/** For files that a command of ours has just written on the user's word: adds exactly these bytes to what is trusted, nothing else of the project. */
export async function trustFiles(paths: Paths, written: readonly WrittenFile[]): Promise<void> {
  const added = written.flatMap(({ path, content }) => {
    const name = nameInProject(path, paths.root);
    return name === undefined ? [] : [{ name, bytes: Buffer.from(content) }];
  });
  if (added.length === 0) return;
  await alone(paths, () => {
    const files = new Map(readManifest(paths)?.files);
    for (const { name, bytes } of added) files.set(name, sha256(bytes));
    writeManifest(paths, files, added.map(({ bytes }) => bytes));
  });
}
