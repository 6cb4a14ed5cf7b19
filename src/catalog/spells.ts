import type { Paths } from "../config/paths.ts";
import { CruError } from "../contract/error.ts";
import { type Problem, problemText } from "../contract/problem.ts";
import { didYouMean } from "../lib/nearest.ts";
import { readGuarded } from "../lib/read-guarded.ts";
import { sha256 } from "../lib/sha256.ts";
import { parseTemplate } from "../lib/template/parse-template.ts";
import { partialNameFault } from "../lib/template/partial-name.ts";
import { render, type RenderOptions } from "../lib/template/render.ts";
import { TemplateError } from "../lib/template/template-error.ts";
import type { Parsed } from "./load-definitions.ts";
import { parseBytes } from "./parse-bytes.ts";
import { scanFolder } from "./scan-folder.ts";
import { includeProblems } from "./spell-includes.ts";

/** One spell or partial: both live in the same folders, a partial is a spell that another one includes. */
export type SpellFile = {
  /** Path below its folder, without `.md`: `implement`, `shared/rules`. */
  name: string;
  source: "builtin" | "project";
  path: string;
  /** The path as people are shown it, and as it stands in messages. */
  shown: string;
  hash: string;
  /** Undefined when the file cannot be used; `problems` says why. */
  text: string | undefined;
  problems: Problem[];
};

/** Every spell by name, the winner of each, as it was when the book was opened: whoever keeps the book keeps the texts. */
export type SpellBook = { files: ReadonlyMap<string, SpellFile>; problems: Problem[] };

const MAX_BYTES = 1024 * 1024;

/** `.coven/spells` over `.coven/prompts` over our own. A broken file still wins: falling back to another text unasked would be worse than an error. */
export function loadSpells(paths: Paths, deps: { show(path: string): string }): SpellBook {
  const files = new Map<string, SpellFile>();
  const problems: Problem[] = [];
  const sources = [
    { folder: paths.builtin.spells, source: "builtin" as const },
    { folder: paths.project.prompts, source: "project" as const, within: paths.root },
    { folder: paths.project.spells, source: "project" as const, within: paths.root },
  ];
  const buffer = Buffer.allocUnsafe(MAX_BYTES + 1);
  for (const place of sources) {
    const scanned = scanFolder({ ...place, recursive: true }, [".md"]);
    try {
      if (scanned.fault !== undefined) problems.push({ path: deps.show(place.folder), ...scanned.fault });
      for (const found of scanned.files) {
        const name = found.key.slice(0, -".md".length);
        const read = found.readable ? readGuarded(`${found.via}/${found.entry}`, scanned.real, buffer) : NOT_A_FILE;
        const shown = deps.show(found.path);
        const parsed = read.ok ? parseBytes(read.bytes, "", parseSpell) : { value: undefined, faults: [unusable(read.fault, read.reason)] };
        const faults = partialNameFault(`${name}.md`) === undefined ? parsed.faults : [unusable("name.invalid", `'${name}' is not a usable name for a spell`), ...parsed.faults];
        files.set(name, {
          name,
          source: place.source,
          path: found.path,
          shown,
          hash: read.ok ? sha256(read.bytes) : "",
          text: parsed.value,
          problems: faults.map((fault) => ({ path: shown, ...fault })),
        });
      }
    } finally {
      scanned.close();
    }
  }
  const sorted = new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
  for (const problem of includeProblems(sorted)) sorted.get(problem.name)?.problems.push(problem.problem);
  problems.push(...[...sorted.values()].flatMap((file) => file.problems));
  return { files: sorted, problems };
}

/** The text is kept when its template is wrong: rendering it says so, with the place. */
function parseSpell(text: string): Parsed<string> {
  try {
    parseTemplate(text, "");
    return { value: text, faults: [] };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    const { line, column, reason, hint, fault } = error;
    return { value: text, faults: [{ line, column, field: "", message: reason, hint: hint ?? "", severity: "error", code: fault }] };
  }
}

export type SpellDeps = {
  /** Called only when a file is needed. */
  book(): SpellBook;
  /** May refuse a file before it is used, e.g. because it is not trusted; partials too. */
  check?(file: SpellFile): void;
  options?: Pick<RenderOptions, "strict" | "collection">;
};

/**
 * Fills a spell with values. With a newline in it `spell` is the template itself, and no file is looked for; else it is a name.
 * A file's partials are looked for in the same places.
 */
export function renderSpell(spell: string, data: unknown, deps: SpellDeps): string {
  const template = isInline(spell) ? { text: spell, shown: "inline spell" } : usable(findSpell(spell, deps.book()), deps);
  return render(parseTemplate(template.text, template.shown), data, {
    ...deps.options,
    include: (name) => {
      const file = deps.book().files.get(name.slice(0, -".md".length));
      if (file === undefined) return undefined;
      const { shown, text } = usable(file, deps);
      return { name: shown, text };
    },
    partials: () => [...deps.book().files.keys()].map((name) => `${name}.md`),
  });
}

export function isInline(spell: string): boolean {
  return spell.includes("\n");
}

export function findSpell(name: string, book: SpellBook): SpellFile {
  const file = book.files.get(name);
  if (file !== undefined) return file;
  const fault = partialNameFault(`${name}.md`);
  if (fault !== undefined) throw new CruError("usage", `'${name}' is not a name of a spell`, { hint: "a spell is named by its path below .coven/spells, without .md" });
  throw new CruError("not_found", `spell not found: ${name}`, { hint: didYouMean(name, [...book.files.keys()]) });
}

function usable(file: SpellFile, deps: SpellDeps): { shown: string; text: string } {
  const [problem] = file.problems.filter((p) => !p.code.startsWith("template.") && !p.code.startsWith("include."));
  if (problem !== undefined || file.text === undefined) throw new CruError("invalid_definition", problem === undefined ? `${file.shown} cannot be read` : problemText(problem));
  deps.check?.(file);
  return { shown: file.shown, text: file.text };
}

const NOT_A_FILE = { ok: false, fault: "file.not_a_file", reason: "not a regular file" } as const;

function unusable(code: Problem["code"], message: string): Omit<Problem, "path"> {
  return { line: 1, column: 1, field: "", message, hint: "", severity: "error", code };
}
