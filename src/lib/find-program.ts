import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";

/** Where a program may be looked for. */
export type ProgramPlace = {
  path: string | undefined;
  /** What a relative path is relative to; by default a relative path finds nothing. */
  base?: string;
  /** A program that really lies below here is not taken: somebody else may have put it there. */
  notBelow?: string;
};

/** A program by its path, or by its name on PATH, as it is called there; undefined when there is none that may be run. */
export function findProgram(command: string, place: ProgramPlace): string | undefined {
  const candidates = command.includes("/")
    ? [isAbsolute(command) || place.base === undefined ? command : resolve(place.base, command)].filter(isAbsolute)
    : (place.path ?? "").split(delimiter).filter(isAbsolute).map((folder) => join(folder, command));
  return candidates.find((file) => isExecutable(file) && (place.notBelow === undefined || ![file, realOf(file)].some((path) => isBelow(path, place.notBelow ?? ""))));
}

/** What a sandbox must show, read-only, for these files to be of use: the packages that they belong to, else their folders, else the files alone. */
export function foldersOfPrograms(files: readonly string[], place: { workspace: string; home: string }): string[] {
  const everywhere = [place.workspace, "/usr", "/bin", "/sbin", "/lib", "/lib64"];
  const all = files.flatMap((file) => [file, realOf(file)]).filter((file) => !everywhere.some((root) => isBelow(file, root)));
  return [...new Set(all.map((file) => packageOf(file, place)))];
}

export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function packageOf(file: string, place: { workspace: string; home: string }): string {
  const modules = file.indexOf("/node_modules/");
  const folder = modules >= 0 ? file.slice(0, modules + "/node_modules".length) : (markedAbove(file, place) ?? dirname(file));
  return isSafe(folder, place) ? folder : file;
}

function markedAbove(file: string, place: { workspace: string; home: string }): string | undefined {
  for (let folder = dirname(file); isSafe(folder, place); folder = dirname(folder)) {
    if (["package.json", "pyproject.toml", "pyvenv.cfg"].some((name) => existsSync(join(folder, name)))) return folder;
  }
  return undefined;
}

/** Never the root, a folder of everybody, or one that holds the home or the workspace. */
function isSafe(folder: string, place: { workspace: string; home: string }): boolean {
  const all = ["/tmp", "/run", "/var", "/etc", "/opt", "/home", "/root", "/proc", "/dev", "/sys", "/srv", "/mnt"];
  return dirname(folder) !== folder && !all.includes(folder) && ![place.home, realOf(place.home), place.workspace].some((kept) => isBelow(kept, folder));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
