import { hash } from "node:crypto";
import type { AgentSource } from "../contract/agent.ts";
import type { Catalog, Entry } from "../contract/catalog.ts";
import { nameFault } from "../contract/name.ts";
import type { Fault, Problem } from "../contract/problem.ts";
import { readGuarded } from "../lib/read-guarded.ts";
import { type IndexRecord, readIndex, writeIndex } from "./index-file.ts";
import { type FoundFile, scanFolder } from "./scan-folder.ts";

/**
 * The one loader of agents, grimoires and spells:
 *
 *   loadDefinitions<T>({ kind, extensions, sources, parser, fingerprint }, { root, indexFile, show }) → Promise<Loaded<T>>
 *
 * `sources` stand in rising precedence. Every run reads every file; what a file means is looked up in the index by the hash of
 * its bytes, so the index cannot be stale. Only content that is not in it loads the parser.
 */
export type DefinitionPlan<T> = {
  kind: "agents" | "grimoires" | "spells";
  extensions: readonly string[];
  sources: readonly SourceFolder[];
  /** Loaded on the first file that the index does not know. */
  parser(): Promise<Parse<T>>;
  /** Changes whenever the parser may read the same bytes differently: `import.meta.url` of the file that names the parser. */
  fingerprint: string;
};

export type SourceFolder = {
  folder: string;
  source: AgentSource;
  /** Handed to the parser: the same bytes may mean something else in another folder. */
  dialect: string;
  /** Whether folders inside it are read too. */
  recursive?: boolean;
  /** The folder must really be inside this one: a project's folders may not lead out of the project. */
  within?: string;
};

/** Pure, and independent of the path: it is called once per content. Without a `name` the file's own name counts. `T` must survive JSON. */
export type Parse<T> = (text: string, dialect: string) => Parsed<T>;
export type Parsed<T> = { name?: string | undefined; value?: T | undefined; faults: Fault[] };

export type LoadDeps = {
  /** Undefined: work without an index. */
  indexFile: string | undefined;
  show(path: string): string;
};

/** One file that was looked at, also when it is broken, shadowed or disabled. */
export type DefinitionFile = { path: string; stem: string; name: string | undefined; source: AgentSource; problems: Problem[] };
export type Loaded<T> = Catalog<T> & { files: DefinitionFile[] };

const MAX_BYTES = 1024 * 1024;

export async function loadDefinitions<T>(plan: DefinitionPlan<T>, deps: LoadDeps): Promise<Loaded<T>> {
  const known = readIndex<T>(deps.indexFile, plan.fingerprint);
  const used = new Map<string, IndexRecord<T>>();
  const buffer = Buffer.allocUnsafe(MAX_BYTES + 1);
  const winners = new Map<string, Entry<T>>();
  const loaded: Loaded<T> = { items: [], problems: [], files: [] };
  let misses = 0;
  for (const source of plan.sources) {
    const seen: Twins = { names: new Map(), stems: new Map() };
    const folder = scanFolder(source, plan.extensions);
    try {
      if (folder.fault !== undefined) report(loaded, source, { path: source.folder, stem: "", name: undefined }, [folder.fault], deps);
      for (const file of folder.files) {
        const read = file.readable ? readGuarded(file.openPath, folder.real, buffer) : NOT_A_FILE;
        if (!read.ok) {
          report(loaded, source, { path: file.path, stem: file.stem, name: undefined }, [wholeFile(read.fault, read.reason, READ_HINTS[read.fault])], deps);
          continue;
        }
        const digest = hash("sha256", read.bytes);
        const key = `${digest}:${source.dialect}`;
        let record = used.get(key) ?? known.get(key);
        if (record === undefined) {
          misses++;
          const { parseBytes } = await import("./parse-bytes.ts");
          record = parseBytes(read.bytes, source.dialect, await plan.parser());
        }
        used.set(key, record);
        register(loaded, winners, seen, { source, file, digest, record }, deps);
      }
    } finally {
      folder.close();
    }
  }
  if (misses > 0) writeIndex(deps.indexFile, plan.fingerprint, used);
  loaded.items = [...winners.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return loaded;
}

/** First path of each name and file name of one source, in lower case: twins differ at most in case. */
type Twins = { names: Map<string, string>; stems: Map<string, string> };
type Candidate<T> = { source: SourceFolder; file: FoundFile; digest: string; record: IndexRecord<T> };

function register<T>(loaded: Loaded<T>, winners: Map<string, Entry<T>>, seen: Twins, candidate: Candidate<T>, deps: LoadDeps): void {
  const { source, file, digest, record } = candidate;
  const { path, stem } = file;
  const name = record.name ?? stem;
  const faults = record.name === undefined && record.value !== undefined ? [...record.faults, ...nameFaults(stem)] : record.faults;
  const good = record.value !== undefined && faults.every((f) => f.severity === "warning");
  const twin = twinFault(seen, file, good ? name : undefined, source, deps);
  const all = twin === undefined ? faults : [...faults, twin];
  report(loaded, source, { path, stem, name: record.value === undefined ? record.name : name }, all, deps);
  if (good && twin === undefined && record.value !== undefined) {
    winners.set(name, { name, value: record.value, source: source.source, path, hash: digest });
  }
}

/** Of two that differ at most in case neither wins silently: the first by path is kept, the second reported. */
function twinFault(seen: Twins, file: FoundFile, name: string | undefined, source: SourceFolder, deps: LoadDeps): Fault | undefined {
  const severity = source.recursive === true ? "warning" : "error";
  const stemKey = file.path.toLowerCase();
  const stemTwin = seen.stems.get(stemKey);
  if (stemTwin !== undefined) return { ...wholeFile("name.twin", `differs only in case from ${deps.show(stemTwin)}`, "rename one of the files"), severity };
  seen.stems.set(stemKey, file.path);
  if (name === undefined) return undefined;
  const nameTwin = seen.names.get(name.toLowerCase());
  if (nameTwin !== undefined) {
    return { ...wholeFile("name.twin", `the name '${name}' is already taken by ${deps.show(nameTwin)}`, "rename one of the two"), field: "name", severity };
  }
  seen.names.set(name.toLowerCase(), file.path);
  return undefined;
}

function report<T>(loaded: Loaded<T>, source: SourceFolder, file: Pick<DefinitionFile, "path" | "stem" | "name">, faults: readonly Fault[], deps: LoadDeps): void {
  const problems = faults.length === 0 ? NONE : faults.map((fault): Problem => ({ path: deps.show(file.path), ...fault }));
  if (problems.length > 0) loaded.problems.push(...problems);
  loaded.files.push({ ...file, source: source.source, problems });
}

const NONE: Problem[] = [];
const NOT_A_FILE = { ok: false, fault: "file.not_a_file", reason: "not a regular file" } as const;
const READ_HINTS = {
  "file.unreadable": "check that it exists and that you may read it",
  "file.too_large": "shorten it; a definition may have 1 MiB",
  "file.outside": "copy the file into the folder instead",
  "file.not_a_file": "move it elsewhere",
} as const;

function nameFaults(stem: string): Fault[] {
  const fault = nameFault(stem);
  if (fault === undefined) return [];
  return fault === "reserved"
    ? [wholeFile("name.reserved", `the file name '${stem}' is reserved`, "rename the file")]
    : [wholeFile("name.invalid", `the file name '${stem}' is not a valid name`, "use lower-case letters, digits, dot, dash and underscore; at most 64")];
}

function wholeFile(code: Fault["code"], message: string, hint: string): Fault {
  return { line: 1, column: 1, field: "", message, hint, severity: "error", code };
}
