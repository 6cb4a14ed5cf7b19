import type { Stats } from "node:fs";
import type { AgentSource } from "../contract/agent.ts";
import type { Catalog, Entry } from "../contract/catalog.ts";
import { nameFault } from "../contract/name.ts";
import type { Fault, Problem } from "../contract/problem.ts";
import { type Guarded, readGuarded } from "../lib/read-guarded.ts";
import { sha256 } from "../lib/sha256.ts";
import { type FolderIndex, type IndexRecord, readIndex, writeIndex } from "./index-file.ts";
import { recallFiles } from "./recall-files.ts";
import { type FoundFile, scanFolder } from "./scan-folder.ts";

/**
 * The one loader of agents, grimoires and spells:
 *
 *   loadDefinitions<T>({ kind, extensions, sources, parser, fingerprint }, { root, indexFile, show }) → Promise<Loaded<T>>
 *
 * `sources` stand in rising precedence. Every run looks at every file: one that cannot have changed since the index read it is
 * taken from there, any other is read and looked up by the hash of its bytes. Only content that is not in the index loads the parser.
 */
export type DefinitionPlan<T> = {
  kind: "agents" | "grimoires" | "spells";
  extensions: readonly string[];
  sources: readonly SourceFolder[];
  /** Loaded on the first file that the index does not know. */
  parser(): Promise<Parse<T>>;
  /** Changes whenever the parser may read the same bytes differently: `BUILD`. */
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
  /** What is not accepted does not stand in the way of what it would have replaced. */
  accept?: (path: string, hash: string) => boolean;
};

/** One file that was looked at, also when it is broken, shadowed or disabled. */
export type DefinitionFile = { path: string; stem: string; name: string | undefined; source: AgentSource; problems: Problem[] };
/** `listed` has the winners among all, also those that were not accepted. */
export type Loaded<T> = Catalog<T> & { listed: Entry<T>[]; files: DefinitionFile[] };

const MAX_BYTES = 1024 * 1024;

export async function loadDefinitions<T extends object>(plan: DefinitionPlan<T>, deps: LoadDeps): Promise<Loaded<T>> {
  const now = Date.now();
  const known = readIndex<T>(deps.indexFile, plan.fingerprint);
  const contents = contentReader(plan, known);
  const winners: Winners<T> = { accepted: new Map(), all: new Map() };
  const loaded: Loaded<T> = { items: [], listed: [], problems: [], files: [] };
  const indexes: FolderIndex<T>[] = [];
  let better = false;
  for (const source of plan.sources) {
    const folder = scanFolder(source, plan.extensions);
    const recall = recallFiles(folder, source, known, now);
    const register = registration(loaded, winners, source, folder.files, deps);
    try {
      if (folder.fault !== undefined) report(loaded, source, { path: source.folder, stem: "" }, undefined, [folder.fault], deps);
      for (const file of folder.files) {
        const known = recall.unchanged(file);
        if (known !== undefined) {
          register(file, known);
          continue;
        }
        const read = await contents.read(file, folder.real, source.dialect);
        if (read.ok) {
          recall.remember(file, read);
          register(file, read.record);
        } else report(loaded, source, file, undefined, [wholeFile(read.fault, read.reason, READ_HINTS[read.fault])], deps);
      }
    } finally {
      folder.close();
    }
    indexes.push(recall.index);
    better ||= recall.better;
  }
  if (better || contents.parsed > 0) writeIndex(deps.indexFile, plan.fingerprint, indexes);
  loaded.items = byName(winners.accepted);
  loaded.listed = deps.accept === undefined ? loaded.items : byName(winners.all);
  return loaded;
}

type Winners<T> = { accepted: Map<string, Entry<T>>; all: Map<string, Entry<T>> };

function byName<T>(entries: ReadonlyMap<string, Entry<T>>): Entry<T>[] {
  return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

type Content<T> = { ok: true; record: IndexRecord<T>; stat: Stats | undefined } | Extract<Guarded, { ok: false }>;
type ContentReader<T> = { read(file: FoundFile, real: string, dialect: string): Promise<Content<T>>; readonly parsed: number };

/** For files that cannot be recalled: reads them, and parses what no file of the index had in it. */
function contentReader<T>(plan: DefinitionPlan<T>, known: readonly FolderIndex<T>[]): ContentReader<T> {
  let records: Map<string, IndexRecord<T>> | undefined;
  let buffer: Buffer | undefined;
  let parse: ((bytes: Buffer, dialect: string) => Parsed<T>) | undefined;
  let parsed = 0;
  return {
    async read(file, real, dialect) {
      buffer ??= Buffer.allocUnsafe(MAX_BYTES + 1);
      const read = file.readable ? readGuarded(`${file.via}/${file.entry}`, real, buffer) : NOT_A_FILE;
      if (!read.ok) return read;
      records ??= new Map(known.flatMap((f) => f.records.map((record) => [`${f.dialect} ${record.digest}`, record])));
      const digest = sha256(read.bytes);
      const key = `${dialect} ${digest}`;
      let record = records.get(key);
      if (record === undefined) {
        parse ??= await loadParser(plan);
        parsed++;
        const { name, value, faults } = parse(read.bytes, dialect);
        record = { digest, name, value, faults };
        records.set(key, record);
      }
      return { ok: true, record, stat: read.stat };
    },
    get parsed() {
      return parsed;
    },
  };
}

async function loadParser<T>(plan: DefinitionPlan<T>): Promise<(bytes: Buffer, dialect: string) => Parsed<T>> {
  const [{ parseBytes }, parse] = await Promise.all([import("./parse-bytes.ts"), plan.parser()]);
  return (bytes, dialect) => parseBytes(bytes, dialect, parse);
}

type Register<T> = (file: FoundFile, record: IndexRecord<T>) => void;

/** Takes the files of one source in, each with what is wrong with it. */
function registration<T>(loaded: Loaded<T>, winners: Winners<T>, source: SourceFolder, found: readonly FoundFile[], deps: LoadDeps): Register<T> {
  // Paths can differ in case alone only where one has capitals.
  const files = found.some(({ key }) => key !== key.toLowerCase()) ? twinFinder() : NO_TWIN;
  const names = twinFinder();
  const severity = source.recursive === true ? "warning" : "error";
  return (file, record) => {
    const { digest, value } = record;
    const name = record.name ?? file.stem;
    let faults = record.name === undefined && value !== undefined ? [...record.faults, ...nameFaults(name)] : record.faults;
    const good = value !== undefined && faults.every((f) => f.severity === "warning");
    // Of two that differ at most in case neither wins silently: the first by path is kept, the second reported.
    const fileTwin = files(file.key, file.path);
    const nameTwin = good && fileTwin === undefined ? names(name, file.path) : undefined;
    if (fileTwin !== undefined) faults = [...faults, { ...wholeFile("name.twin", `differs only in case from ${deps.show(fileTwin)}`, "rename one of the files"), severity }];
    if (nameTwin !== undefined) faults = [...faults, { ...wholeFile("name.twin", `the name '${name}' is already taken by ${deps.show(nameTwin)}`, "rename one of the two"), field: "name", severity }];
    report(loaded, source, file, value === undefined ? record.name : name, faults, deps);
    if (!good || fileTwin !== undefined || nameTwin !== undefined) return;
    const entry = { name, value, source: source.source, path: file.path, hash: digest };
    if (deps.accept !== undefined) winners.all.set(name, entry);
    if (deps.accept?.(file.path, digest) !== false) winners.accepted.set(name, entry);
  };
}

const NO_TWIN = (): undefined => undefined;

/** Answers with the path that came before under the same word, whatever its case. */
function twinFinder(): (word: string, path: string) => string | undefined {
  const first = new Map<string, string>();
  return (word, path) => {
    const key = word.toLowerCase();
    const before = first.get(key);
    if (before === undefined) first.set(key, path);
    return before;
  };
}

function report<T>(loaded: Loaded<T>, source: SourceFolder, file: Pick<FoundFile, "path" | "stem">, name: string | undefined, faults: readonly Fault[], deps: LoadDeps): void {
  const problems = faults.length === 0 ? NONE : faults.map((fault) => problemOf(deps.show(file.path), fault));
  for (const problem of problems) loaded.problems.push(problem);
  loaded.files.push({ path: file.path, stem: file.stem, name, source: source.source, problems });
}

/** One order of keys, whether the fault comes from the parser or from the index. */
function problemOf(path: string, { line, column, field, message, hint, severity, code }: Fault): Problem {
  return { path, line, column, field, message, hint, severity, code };
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
