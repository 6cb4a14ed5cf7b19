import { randomBytes } from "node:crypto";
import {
  closeSync, constants, type Dirent, fchmodSync, fstatSync, fsyncSync, mkdirSync, openSync, readdirSync, readlinkSync, readSync, realpathSync, renameSync, rmSync, type Stats,
} from "node:fs";
import { isAbsolute, join, normalize, relative, sep } from "node:path";
import { writeAll } from "./atomic-write.ts";

/**
 * Files below one folder, for paths that a model chose. Every component is opened by descriptor without following links,
 * and links are followed by hand inside the folder only: whoever swaps a folder for a link meanwhile redirects nothing.
 */
export type PathFault = { ok: false; code: "outside" | "refused" | "missing" | "exists" | "not_a_file" | "not_a_folder" | "loop" | "invalid" | "io"; message: string };

/** `path` is relative to the folder, links resolved. */
export type Located = { ok: true; path: string; kind: "file" | "folder" | "other" | "missing" };
export type ReadInside = { ok: true; path: string; bytes: Buffer; size: number };
export type WroteInside = { ok: true; path: string; created: boolean };

export function readInside(folder: string, path: string, options: { maxBytes: number; from?: number }): ReadInside | PathFault {
  return withFile(folder, path, (file, stat, resolved) => {
    const buffer = Buffer.alloc(Math.max(0, Math.min(options.maxBytes, stat.size - (options.from ?? 0))));
    let done = 0;
    while (done < buffer.length) {
      const count = readSync(file, buffer, done, buffer.length - done, (options.from ?? 0) + done);
      if (count === 0) break;
      done += count;
    }
    return { ok: true, path: resolved, bytes: buffer.subarray(0, done), size: stat.size };
  });
}

/** Opens a regular file for reading and hands the descriptor over for the time of `use`. */
export function withFile<T>(folder: string, path: string, use: (file: number, stat: Stats, path: string) => T): T | PathFault {
  return walk(folder, path, { missing: "fail" }, (place) => {
    if (place.name === undefined) return fault("not_a_file", `${shown(path)} is a folder`);
    const file = openAt(place.parent, place.name, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(file);
      if (stat.isDirectory()) return fault("not_a_file", `${shown(path)} is a folder`);
      if (!stat.isFile()) return fault("not_a_file", `${shown(path)} is not a regular file`);
      return use(file, stat, place.path);
    } finally {
      closeSync(file);
    }
  });
}

export type WriteOptions = {
  onlyNew?: boolean;
  /** Asked with the place where the path really leads, while that place is held open; a text says why not. */
  refuse?: (path: string) => string | undefined;
};

/** Replaces or creates a file in one step and keeps the mode it had. Missing folders are made. */
export function writeInside(folder: string, path: string, content: string | Uint8Array, options: WriteOptions = {}): WroteInside | PathFault {
  return walk(folder, path, { missing: "make", ...(options.refuse === undefined ? {} : { refuse: options.refuse }) }, (place) => {
    if (place.name === undefined) return fault("not_a_file", `${shown(path)} is a folder`);
    const before = statAt(place.parent, place.name);
    if (before?.isDirectory() === true) return fault("not_a_file", `${shown(path)} is a folder`);
    if (before !== undefined && !before.isFile()) return fault("not_a_file", `${shown(path)} is not a regular file`);
    if (before !== undefined && options.onlyNew === true) return fault("exists", `${shown(path)} exists already`);
    const temporary = `.${randomBytes(8).toString("hex")}.tmp`;
    const file = openAt(place.parent, temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o666);
    try {
      try {
        writeAll(file, typeof content === "string" ? Buffer.from(content) : content);
        if (before !== undefined) fchmodSync(file, before.mode & 0o777);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      if (!place.parent.isInside()) return fault("outside", `${shown(path)} was moved out of the workspace meanwhile`);
      renameSync(at(place.parent, temporary), at(place.parent, place.name));
    } finally {
      rmSync(at(place.parent, temporary), { force: true });
    }
    return { ok: true, path: place.path, created: before === undefined };
  });
}

/** What stands in a folder; links are not followed. */
export function listInside(folder: string, path: string): { ok: true; path: string; entries: Dirent[] } | PathFault {
  return walk(folder, path, { missing: "fail" }, (place) => {
    if (place.name !== undefined) {
      return statAt(place.parent, place.name) === undefined ? fault("missing", `${shown(path)} does not exist`) : fault("not_a_folder", `${shown(path)} is not a folder`);
    }
    return { ok: true, path: place.path, entries: readdirSync(at(place.parent, "."), { withFileTypes: true }) };
  });
}

/** Where a path leads, without opening it. */
export function locate(folder: string, path: string): Located | PathFault {
  return walk(folder, path, { missing: "name" }, (place): Located | PathFault => {
    if (place.name === undefined) return { ok: true, path: place.path, kind: "folder" };
    const stat = statAt(place.parent, place.name);
    if (stat === undefined) return { ok: true, path: place.path, kind: "missing" };
    return { ok: true, path: place.path, kind: stat.isFile() ? "file" : "other" };
  });
}

/** A path that a model wrote, made relative to the folder by its letters alone; links are not considered. */
export function lexical(folder: string, path: string): string {
  return relative(folder, isAbsolute(path) ? path : join(folder, path));
}

type Folder = { fd: number; path: string; isInside(): boolean };
type Place = { parent: Folder; name: string | undefined; path: string };

/** What to do about folders on the way that do not exist. */
type WalkOptions = { missing: "fail" | "make" | "name"; refuse?: (path: string) => string | undefined };

const MOST_LINKS = 40;
const LINUX = process.platform === "linux";

function walk<T>(folder: string, path: string, options: WalkOptions, use: (place: Place) => T | PathFault): T | PathFault {
  if (path === "" || path.includes("\0")) return fault("invalid", "the path is empty or holds a NUL byte");
  const rest = componentsBelow(folder, path);
  if (rest === undefined) return fault("outside", `${shown(path)} is outside the workspace`);
  const open: Folder[] = [];
  try {
    open.push(openRoot(folder));
    return descend(open, rest, path, options, use);
  } catch (error) {
    return ioFault(error, path);
  } finally {
    for (const { fd } of open) closeSync(fd);
  }
}

function descend<T>(open: Folder[], rest: string[], path: string, options: WalkOptions, use: (place: Place) => T | PathFault): T | PathFault {
  const root = open[0];
  if (root === undefined) return fault("io", "no folder");
  const names: string[] = [];
  let links = 0;
  for (;;) {
    const current = open.at(-1) ?? root;
    const name = rest.shift();
    if (name === undefined) return use({ parent: current, name: undefined, path: names.join(sep) || "." });
    if (name === "." || name === "") continue;
    if (name === "..") {
      if (open.length === 1) return fault("outside", `${shown(path)} leads out of the workspace`);
      closeSync(open.pop()?.fd ?? -1);
      names.pop();
      continue;
    }
    const link = linkAt(current, name);
    if (link !== undefined) {
      if (++links > MOST_LINKS) return fault("loop", `${shown(path)} goes through too many links`);
      const target = isAbsolute(link) ? componentsBelow(root.path, link) : link.split(sep);
      if (target === undefined) return fault("outside", `${shown(path)} is a link that leads out of the workspace`);
      if (isAbsolute(link)) {
        while (open.length > 1) closeSync(open.pop()?.fd ?? -1);
        names.length = 0;
      }
      rest.unshift(...target);
      continue;
    }
    const stat = statAt(current, name);
    const isLast = rest.every((n) => n === "." || n === "");
    if (isLast || stat === undefined) {
      const reason = options.refuse?.([...names, name].join(sep));
      if (reason !== undefined) return fault("refused", reason);
    }
    if (isLast && stat?.isDirectory() !== true) return use({ parent: current, name, path: [...names, name].join(sep) });
    if (stat === undefined && options.missing === "name") {
      const path = normalize([...names, name, ...rest].join(sep));
      return path.startsWith("..") ? fault("outside", `${shown(path)} leads out of the workspace`) : use({ parent: current, name, path });
    }
    if (stat === undefined && options.missing === "make") makeFolder(current, name);
    open.push(openFolder(current, name, root.path));
    names.push(name);
  }
}

function componentsBelow(folder: string, path: string): string[] | undefined {
  if (!isAbsolute(path)) return path.split(sep);
  for (const base of [folder, realpathSync(folder)]) {
    if (path === base || path.startsWith(base.endsWith(sep) ? base : base + sep)) return path.slice(base.length).split(sep);
  }
  return undefined;
}

function openRoot(path: string): Folder {
  const real = realpathSync(path);
  return { fd: openSync(real, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW), path: real, isInside: () => true };
}

function openFolder(parent: Folder, name: string, root: string): Folder {
  const fd = openAt(parent, name, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const path = join(parent.path, name);
  const isInside = (): boolean => {
    const now = LINUX ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync(path);
    return now === root || now.startsWith(root + sep);
  };
  return { fd, path, isInside };
}

function makeFolder(parent: Folder, name: string): void {
  try {
    mkdirSync(at(parent, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Below an open descriptor, wherever that folder is by now. Elsewhere than on Linux only the path is left. */
function at(parent: Folder, name: string): string {
  return LINUX ? `/proc/self/fd/${parent.fd}/${name}` : join(parent.path, name);
}

function openAt(parent: Folder, name: string, flags: number, mode?: number): number {
  return openSync(at(parent, name), flags, mode);
}

function linkAt(parent: Folder, name: string): string | undefined {
  try {
    return readlinkSync(at(parent, name));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EINVAL" || code === "ENOENT") return undefined;
    throw error;
  }
}

/** By an open descriptor and without following a link; a special file is never opened for its content. */
function statAt(parent: Folder, name: string): Stats | undefined {
  let fd: number;
  try {
    fd = openAt(parent, name, (LINUX ? O_PATH : constants.O_RDONLY | constants.O_NONBLOCK) | constants.O_NOFOLLOW);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return fstatSync(fd);
  } finally {
    closeSync(fd);
  }
}

// Not in node's constants; the value is the same on every Linux that node supports.
const O_PATH = 0o10000000;

function fault(code: PathFault["code"], message: string): PathFault {
  return { ok: false, code, message };
}

function shown(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path;
}

function ioFault(error: unknown, path: string): PathFault {
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined) throw error;
  if (code === "ENOENT") return fault("missing", `${shown(path)} does not exist`);
  if (code === "ENOTDIR") return fault("not_a_folder", `a part of ${shown(path)} is not a folder`);
  if (code === "ELOOP") return fault("outside", `${shown(path)} was replaced by a link meanwhile`);
  if (code === "EACCES" || code === "EPERM") return fault("io", `${shown(path)}: permission denied`);
  if (code === "ENAMETOOLONG") return fault("invalid", `${shown(path)}: the name is too long`);
  return fault("io", `${shown(path)}: ${code}`);
}
