import { closeSync, constants, fsyncSync, lstatSync, mkdirSync, openSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { writeAll } from "./atomic-write.ts";

/** A link, or something that is no folder, where a folder of ours should be. */
export class NotOurFolder extends Error {
  readonly path: string;
  constructor(path: string) {
    super(`${path} is not a plain folder`);
    this.path = path;
  }
}

/** Makes `folder` and what is missing between `base` and it; nothing on the way may be a link, so nothing is ever made outside `base`. True when it was made. */
export function createFolder(base: string, folder: string): boolean {
  let made = false;
  let at = base;
  for (const name of relative(base, folder).split(sep).filter((n) => n !== "")) {
    at = join(at, name);
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (stat === undefined) {
      mkdirSync(at);
      made = true;
    } else if (!stat.isDirectory()) throw new NotOurFolder(at);
  }
  return made;
}

/** Writes a file that is not there yet. False when anything is at `path`, a broken link included; that is never touched. */
export function createFile(path: string, content: string): boolean {
  let file: number;
  try {
    file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o666);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
  try {
    writeAll(file, Buffer.from(content));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return true;
}
