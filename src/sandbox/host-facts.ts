import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, sep } from "node:path";
import { PROTECTED_NAMES } from "../lib/protected-path.ts";
import { credentialFiles } from "./credential-files.ts";
import type { HostFacts, SandboxSpec } from "./spec.ts";

const TOP_FOLDERS = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
const DEFAULT_PATH = ["/usr/local/bin", "/usr/bin", "/bin"];

/** Tool managers that live in a home folder: only what is listed becomes visible, and only when PATH uses it. */
const HOME_TOOLS: readonly (readonly [onPath: string, ...shown: string[]])[] = [
  [".nvm", ".nvm/versions"],
  [".volta", ".volta/bin", ".volta/tools"],
  [".fnm", ".fnm/node-versions", ".fnm/aliases"],
  [".local/share/fnm", ".local/share/fnm/node-versions", ".local/share/fnm/aliases"],
  [".asdf", ...["bin", "lib", "libexec", "shims", "installs", "plugins", "asdf.sh"].map((name) => `.asdf/${name}`)],
  [".local/share/mise", ...["shims", "installs", "plugins"].map((name) => `.local/share/mise/${name}`)],
  [".pyenv", ...["bin", "libexec", "shims", "versions", "plugins", "pyenv.d", "version"].map((name) => `.pyenv/${name}`)],
  [".rbenv", ...["bin", "libexec", "shims", "versions", "plugins", "rbenv.d", "version"].map((name) => `.rbenv/${name}`)],
  [".cargo/bin", ".cargo/bin", ".rustup"],
  [".bun/bin", ".bun/bin"],
  [".deno/bin", ".deno/bin"],
  [".local/bin", ".local/bin"],
  ["go/bin", "go/bin"],
];

export function hostFacts(spec: SandboxSpec, machine: { path: string | undefined; node: string; uid: number }): HostFacts {
  const tools = toolchain(spec, machine);
  return {
    uid: machine.uid,
    roots: TOP_FOLDERS.flatMap(rootOf),
    toolchain: tools,
    masked: credentialFiles(["/usr", "/usr/local", ...tools]),
    protected: PROTECTED_NAMES.flatMap((name) => {
      const real = realOf(join(spec.workspace, name));
      // A link that leads out of the workspace leads nowhere inside.
      return real !== undefined && real.startsWith(spec.workspace + sep) ? [{ name, real }] : [];
    }),
  };
}

/** PATH as a command inside sees it: what is visible of the user's, in the user's order. */
export function insidePath(spec: SandboxSpec, facts: Pick<HostFacts, "toolchain">, path: string | undefined): string {
  const visible = (folder: string): boolean => ["/usr", "/bin", "/sbin", ...facts.toolchain].some((root) => isBelow(folder, root));
  const folders = folderList(path).filter((folder) => visible(folder) && !isBelow(folder, spec.workspace));
  return [...new Set([...folders, ...DEFAULT_PATH])].join(":");
}

function rootOf(path: string): HostFacts["roots"] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  return stat.isSymbolicLink() ? [{ path, link: readlinkSync(path) }] : [{ path }];
}

function toolchain(spec: SandboxSpec, machine: { path: string | undefined; node: string }): string[] {
  const home = realOf(spec.home) ?? spec.home;
  // Programs of a project are no tool chain; the workspace has its own.
  const folders = folderList(machine.path).filter((folder) => !folder.endsWith("/node_modules/.bin"));
  const prefixes = [...folders.flatMap((folder) => shown(folder, homeOf(folder, home))), nodePrefix(machine.node)];
  const outside = prefixes.filter((prefix) => !TOP_FOLDERS.some((top) => isBelow(prefix, top)) && !isBelow(prefix, spec.workspace) && isSafeToShow(prefix, home, spec.workspace));
  return [...new Set(outside)].filter((prefix) => statSync(prefix, { throwIfNoEntry: false }) !== undefined);
}

/** The home that a folder lies in: the user's own, or anybody's. */
function homeOf(folder: string, home: string): string | undefined {
  return isBelow(folder, home) ? home : /^\/(?:home\/[^/]+|Users\/[^/]+|root|var\/root)(?=\/|$)/.exec(folder)?.[0];
}

function shown(folder: string, home: string | undefined): string[] {
  if (home === undefined) return [folder.endsWith("/bin") && dirname(dirname(folder)) !== "/" ? dirname(folder) : folder];
  const below = folder.slice(home.length + 1);
  return HOME_TOOLS.filter(([onPath]) => below === onPath || below.startsWith(`${onPath}/`)).flatMap(([, ...parts]) => parts.map((part) => join(home, part)));
}

function nodePrefix(node: string): string {
  const folder = dirname(realOf(node) ?? node);
  return folder.endsWith("/bin") ? dirname(folder) : folder;
}

/** Never the root, a home, or a folder that holds one of them or the workspace. */
function isSafeToShow(prefix: string, home: string, workspace: string): boolean {
  const taken = ["/proc", "/dev", "/sys", "/tmp", "/run", "/etc", "/home", "/root", "/var", "/boot"];
  return prefix !== "/" && !taken.includes(prefix) && !isBelow(home, prefix) && !isBelow(workspace, prefix);
}

function folderList(path: string | undefined): string[] {
  return (path ?? "").split(":").filter(isAbsolute).map((folder) => (folder.length > 1 && folder.endsWith("/") ? folder.slice(0, -1) : folder));
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
