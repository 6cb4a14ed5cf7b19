import { join } from "node:path";
import { createFile, createFolder } from "./create-file.ts";

/** A folder below `root` that git does not see; nothing on the way may be a link. */
export function ignoredFolder(root: string, folder: string): void {
  createFolder(root, folder);
  createFile(join(folder, ".gitignore"), "*\n");
}
