import { matchSegments } from "./glob.ts";
import { listInside, readInside } from "./safe-path.ts";

const NEVER = new Set([".git", "node_modules"]);
const NEVER_BELOW = [".coven/worktrees", ".coven/logs", ".crucible/sessions", ".crucible/cache"];

type Rule = { base: string; segments: string[]; negated: boolean; foldersOnly: boolean };

/**
 * Files below a folder as paths with `/`, sorted per folder, without what git ignores, `.git`, `node_modules` and what this
 * program itself writes. Links are named but not followed.
 */
export function* walkFiles(folder: string, start = ""): Generator<string> {
  const rules = [...rulesOf(folder, ".git/info/exclude", ""), ...parents(start).flatMap((parent) => rulesOf(folder, join(parent, ".gitignore"), parent))];
  yield* descend(folder, start, rules);
}

function* descend(folder: string, path: string, inherited: readonly Rule[]): Generator<string> {
  const listed = listInside(folder, path === "" ? "." : path);
  if (!listed.ok) return;
  const rules = listed.entries.some((e) => e.name === ".gitignore") ? [...inherited, ...rulesOf(folder, join(path, ".gitignore"), path)] : inherited;
  for (const entry of listed.entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const below = join(path, entry.name);
    if (NEVER.has(entry.name) || NEVER_BELOW.includes(below) || isIgnored(rules, below, entry.isDirectory())) continue;
    if (entry.isDirectory()) yield* descend(folder, below, rules);
    else if (entry.isFile() || entry.isSymbolicLink()) yield below;
  }
}

function isIgnored(rules: readonly Rule[], path: string, isFolder: boolean): boolean {
  const last = rules.findLast((rule) => (isFolder || !rule.foldersOnly) && matches(rule, path));
  return last !== undefined && !last.negated;
}

function matches(rule: Rule, path: string): boolean {
  const below = rule.base === "" ? path : path.slice(rule.base.length + 1);
  return matchSegments(rule.segments, below.split("/"), { hidden: true });
}

function rulesOf(folder: string, file: string, base: string): Rule[] {
  const read = readInside(folder, file, { maxBytes: 256 * 1024 });
  if (!read.ok) return [];
  return read.bytes.toString("utf8").split("\n").flatMap((line) => ruleOf(line, base)).slice(0, 2000);
}

function ruleOf(line: string, base: string): Rule[] {
  const text = line.replace(/\r$/, "").replace(/(?<!\\) +$/, "");
  if (text === "" || text.startsWith("#") || text.length > 1000) return [];
  const negated = text.startsWith("!");
  const pattern = negated ? text.slice(1) : text;
  const segments = pattern.split("/").filter((segment) => segment !== "");
  if (segments.length === 0) return [];
  // Without a slash before its end a pattern holds at every depth.
  const anchored = pattern.slice(0, -1).includes("/");
  return [{ base, segments: anchored ? segments : ["**", ...segments], negated, foldersOnly: pattern.endsWith("/") }];
}

function parents(path: string): string[] {
  if (path === "") return [];
  const names = path.split("/");
  return names.map((_, i) => names.slice(0, i).join("/"));
}

function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}
