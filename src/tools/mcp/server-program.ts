import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import type { McpServer } from "../../contract/settings.ts";
import { findProgram, foldersOfPrograms, isBelow, isFile } from "../../lib/find-program.ts";
import { isRecord } from "./clean-schema.ts";

export type Place = { workspace: string; home: string; path: string | undefined };

/** The command line of a server, and what it must be shown of the machine to run; or why it cannot. */
export type ServerProgram = { ok: true; command: string[]; shown: string[] } | { ok: false; why: string };

const INTERPRETERS = /^(?:node|deno|bun|python[\d.]*|ruby|perl|php|sh|bash)$/;
const COMES_WITH: Readonly<Record<string, string>> = { npx: "Node.js", npm: "Node.js", node: "Node.js", uvx: "uv", uv: "uv", docker: "Docker", deno: "Deno", bunx: "Bun", python3: "Python" };

/** Finds the program on this machine. Nothing is ever downloaded. */
export function serverProgram(server: Pick<McpServer, "args"> & { command: string }, place: Place): ServerProgram {
  const args = server.args ?? [];
  // A path may lead into the workspace, a name may not: whoever writes there must not choose what a name means.
  const program = findProgram(server.command, { path: place.path, base: place.workspace, ...(server.command.includes("/") ? {} : { notBelow: place.workspace }) });
  if (program === undefined) return { ok: false, why: notFound(server.command) };
  if (basename(server.command) === "npx") return npxProgram(args, place);
  const script = INTERPRETERS.test(basename(server.command)) ? args.find((arg) => isAbsolute(arg) && isFile(arg)) : undefined;
  return { ok: true, command: [program, ...args], shown: foldersOfPrograms([program, ...(script === undefined ? [] : [script])], place) };
}

function notFound(command: string): string {
  if (command.includes("/")) return `${command} is not a program`;
  const from = Object.hasOwn(COMES_WITH, command) ? `install ${COMES_WITH[command]}` : "install it, or give its full path as command";
  return `${command} was not found on PATH; ${from}`;
}

/**
 * npx would ask the registry; we start the installed package itself. Not one of the workspace: an agent may write there, and
 * the server gets the secrets of its settings.
 */
function npxProgram(args: readonly string[], place: Place): ServerProgram {
  const at = args.findIndex((arg) => !arg.startsWith("-"));
  const [spec = "", ...rest] = at < 0 ? [] : args.slice(at);
  const flags = args.slice(0, Math.max(0, at));
  const match = /^((?:@[\w.-]+\/)?[\w.-]+)(?:@(.+))?$/.exec(spec);
  if (match?.[1] === undefined || flags.some((flag) => !["-y", "--yes", "-q", "--quiet", "--offline", "--prefer-offline", "--no-install"].includes(flag))) {
    return { ok: false, why: "of npx only `npx -y PACKAGE ARGUMENTS` is understood; give the program of the package as command" };
  }
  const [, name, version] = match;
  const exact = /^\d+\.\d+\.\d+/.test(version ?? "") ? version : undefined;
  for (const root of packageRoots(place)) {
    const entry = packageEntry(join(root, name), name, exact);
    // A program among the arguments, such as a browser, is of use only when it can be seen.
    const programs = rest.filter((arg) => isAbsolute(arg) && findProgram(arg, { path: undefined }) !== undefined);
    if (entry !== undefined) return { ok: true, command: [process.execPath, entry, ...rest], shown: foldersOfPrograms([entry, ...programs], place) };
  }
  return { ok: false, why: `the npm package ${spec} is not installed, and nothing is downloaded; install it: npm install -g ${spec}` };
}

function packageRoots(place: Place): string[] {
  const bins = [dirname(process.execPath), ...(place.path ?? "").split(delimiter)].filter((folder) => isAbsolute(folder) && basename(folder) === "bin" && !isBelow(folder, place.workspace));
  const cache = join(place.home, ".npm", "_npx");
  const cached = listed(cache).map((name) => join(cache, name, "node_modules"));
  const newestFirst = cached.toSorted((a, b) => (statSync(b, { throwIfNoEntry: false })?.mtimeMs ?? 0) - (statSync(a, { throwIfNoEntry: false })?.mtimeMs ?? 0));
  return [...new Set([...bins.map((bin) => join(dirname(bin), "lib", "node_modules")), ...newestFirst])];
}

function packageEntry(folder: string, name: string, version: string | undefined): string | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    if (!isRecord(found) || (version !== undefined && found.version !== version)) return undefined;
    const bins = isRecord(found.bin) ? found.bin : { [basename(name)]: found.bin };
    const bin = bins[basename(name)] ?? Object.values(bins)[0];
    return typeof bin === "string" && isBelow(resolve(folder, bin), folder) && isFile(resolve(folder, bin)) ? resolve(folder, bin) : undefined;
  } catch {
    return undefined;
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
