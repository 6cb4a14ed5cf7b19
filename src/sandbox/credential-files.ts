import { readdirSync, realpathSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** Where npm, yarn, pip, cargo, git and curl keep logins, should they lie in the folder of a tool. */
const NAMES = [
  "etc/npmrc", "npmrc", ".npmrc", ".yarnrc", ".yarnrc.yml", "pip.conf", ".pypirc", ".netrc", "_netrc", ".env", ".git-credentials", ".git/config", "credentials", "credentials.toml",
  "credentials.json", "auth.json",
];

/** How deep below such a folder the single installations lie; each has a configuration of its own. */
const INSTALLATIONS: readonly (readonly [end: string, depth: number])[] = [
  [".nvm/versions", 2], ["fnm/node-versions", 2], [".volta/tools", 3], [".pyenv/versions", 1], [".rbenv/versions", 1], [".asdf/installs", 2], ["mise/installs", 2],
];

/** Files among what a sandbox shows of the machine's tools that may hold a login, by the path under which they would be seen. */
export function credentialFiles(roots: readonly string[]): string[] {
  const shown = roots.flatMap((root) => (realOf(root) === undefined ? [] : [{ root, real: realOf(root) ?? root }]));
  const folders = roots.flatMap((root) => [root, ...below(root, INSTALLATIONS.find(([end]) => root.endsWith(`/${end}`))?.[1] ?? 0)]);
  const found = [...new Set(folders)].flatMap((folder) => NAMES.map((name) => join(folder, name))).filter(isFile);
  // A link is no place to mount on: what it leads to is hidden, and where that is not shown there is nothing to hide.
  return [...new Set(found.flatMap((path) => {
    const real = realOf(path);
    const place = shown.find((one) => real?.startsWith(one.real + sep) === true);
    return real === undefined || place === undefined ? [] : [join(place.root, relative(place.real, real))];
  }))];
}

function below(folder: string, depth: number): string[] {
  if (depth === 0) return [];
  return foldersIn(folder).flatMap((inner) => [inner, ...below(inner, depth - 1)]);
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map((entry) => join(folder, entry.name));
  } catch {
    return [];
  }
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
