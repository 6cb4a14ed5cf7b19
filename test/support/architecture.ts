import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** The one import order: a folder sees only what stands left of it; folders of one row do not see each other. */
export const IMPORT_ORDER: readonly (readonly string[])[] = [
  ["contract"],
  ["lib"],
  ["config"],
  ["catalog", "permission", "trust", "session", "beads", "worktree", "inbox", "notify", "llm", "engine", "kiln", "sandbox", "scripted"],
  ["runner"],
  ["agent"],
  ["tools"],
  ["subagents"],
  ["workflow"],
  ["scheduler"],
  ["app"],
  ["daemon", "mcp"],
  ["cli"],
  ["main"],
];

export const MOST_LINES = 400;
const FEW_PROCESSES = "lib/subprocess.ts";

type Source = { path: string; text: string; imports: { path: string; typeOnly: boolean }[] };

/** Every fault of a source tree, as sentences; empty when it keeps the rules. */
export function architectureFaults(src: string): string[] {
  const sources = [...walk(src)].map((path) => read(src, path));
  return [...sources.flatMap(faultsOf), ...cycles(sources)];
}

function faultsOf(source: Source): string[] {
  const faults: string[] = [];
  const lines = source.text.split("\n").length - 1;
  if (lines > MOST_LINES) faults.push(`${source.path} has ${lines} lines; split it (at most ${MOST_LINES})`);
  if (isBarrel(source)) faults.push(`${source.path} only re-exports; import from the files themselves`);
  if (/from "(?:node:)?child_process"/.test(source.text) && source.path !== FEW_PROCESSES) {
    faults.push(`${source.path} starts programs itself; use ${FEW_PROCESSES}`);
  }
  const from = folderOf(source.path);
  if (rank(from) === undefined) faults.push(`${source.path} is in a folder that the import order does not know`);
  for (const target of source.imports) {
    const to = folderOf(target.path);
    const [a, b] = [rank(from), rank(to)];
    if (from !== to && a !== undefined && b !== undefined && b >= a) faults.push(`${source.path} imports ${target.path}; ${from} may not see ${to}`);
  }
  return faults;
}

function isBarrel(source: Source): boolean {
  const code = source.text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  const statements = code.split(/;\s*(?:\n|$)/).map((s) => s.trim()).filter((s) => s !== "");
  return statements.length > 0 && statements.every((s) => /^export\s+(?:type\s+)?(?:\*|\{)[\s\S]*\sfrom\s/.test(s));
}

/** Cycles of imports that exist at run time; a type import is erased. */
function cycles(sources: Source[]): string[] {
  const graph = new Map(sources.map((s) => [s.path, s.imports.filter((i) => !i.typeOnly).map((i) => i.path)]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) {
      found.push(`import cycle: ${[...trail.slice(at), path].join(" → ")}`);
      return;
    }
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
}

function read(src: string, path: string): Source {
  const text = readFileSync(join(src, path), "utf8");
  const imports = [...text.matchAll(/^\s*(?:import|export)\s+(type\s)?[^;"']*?from\s+"(\.[^"]+)"|^import\s+()"(\.[^"]+)"/gm)]
    .map(([, typeOnly, from, , bare]) => ({ path: relative(src, resolve(src, dirname(path), from ?? bare ?? "")), typeOnly: typeOnly !== undefined }))
    .filter((i) => /\.tsx?$/.test(i.path));
  const lazy = [...text.matchAll(/import\(\s*"(\.[^"]+)"\s*\)/g)].map(([, from]) => ({
    path: relative(src, resolve(src, dirname(path), from ?? "")),
    // A lazy import runs later, so it closes no cycle at load time; it still has to keep the order.
    typeOnly: true,
  }));
  return { path, text, imports: [...imports, ...lazy] };
}

function folderOf(path: string): string {
  const [first = ""] = path.split("/");
  return first.replace(/\.tsx?$/, "");
}

function rank(folder: string): number | undefined {
  const index = IMPORT_ORDER.findIndex((row) => row.includes(folder));
  return index < 0 ? undefined : index;
}

function* walk(folder: string, prefix = ""): Generator<string> {
  for (const name of readdirSync(join(folder, prefix)).sort()) {
    const path = prefix === "" ? name : `${prefix}/${name}`;
    if (statSync(join(folder, path)).isDirectory()) yield* walk(folder, path);
    else if (/\.tsx?$/.test(name) && !name.endsWith(".d.ts")) yield path;
  }
}
