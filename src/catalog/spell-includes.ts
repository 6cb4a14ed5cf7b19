import type { Problem } from "../contract/problem.ts";
import { didYouMean } from "../lib/nearest.ts";
import { parseTemplate } from "../lib/template/parse-template.ts";
import { DEEPEST_INCLUDE } from "../lib/template/render.ts";
import { placeOf, TemplateError } from "../lib/template/template-error.ts";
import type { Template } from "../lib/template/tree.ts";

type File = { name: string; shown: string; text: string | undefined };
type Found = { name: string; problem: Problem };

/** What is wrong between spells, whether a rendering would reach it or not: partials that are not there, circles, chains that are too long. */
export function includeProblems(files: ReadonlyMap<string, File>): Found[] {
  const walk: Walk = { files, found: [], heights: new Map(), trail: [] };
  for (const name of files.keys()) heightOf(walk, name);
  return walk.found;
}

type Walk = {
  files: ReadonlyMap<string, File>;
  found: Found[];
  /** How many levels of partials hang below a file. */
  heights: Map<string, number>;
  /** The files that are being looked at, each included by the one before. */
  trail: string[];
};

function heightOf(walk: Walk, name: string): number {
  const known = walk.heights.get(name);
  if (known !== undefined) return known;
  const file = walk.files.get(name);
  const template = file === undefined ? undefined : parsed(file);
  let height = 0;
  walk.trail.push(name);
  if (file !== undefined && template !== undefined && walk.trail.length <= MOST_TRAIL) {
    for (const include of firstOfEach(template)) {
      const report: Report = (message, hint, code) => {
        const { line, column } = placeOf(template, include.at);
        walk.found.push({ name, problem: { path: file.shown, line, column, field: "", message, hint, severity: "error", code } });
      };
      height = Math.max(height, levelsBelow(walk, include.name.slice(0, -".md".length), report));
    }
  }
  walk.trail.pop();
  walk.heights.set(name, height);
  return height;
}

/** One problem a partial is enough, and a file that includes thousands is not worth more time. */
function firstOfEach(template: Template): Template["includes"] {
  const first = new Map(template.includes.toReversed().map((include) => [include.name, include]));
  return [...first.values()].toReversed().slice(0, MOST_PARTIALS);
}

type Report = (message: string, hint: string, code: Problem["code"]) => void;
const MOST_TRAIL = 200;
const MOST_PARTIALS = 100;

/** The height below one include, and what is wrong with it. */
function levelsBelow(walk: Walk, target: string, report: Report): number {
  if (!walk.files.has(target)) {
    report(`no partial "${target}.md"`, didYouMean(`${target}.md`, [...walk.files.keys()].map((n) => `${n}.md`)), "include.not_found");
    return 0;
  }
  const at = walk.trail.indexOf(target);
  if (at >= 0) {
    report(`circular include: ${[...walk.trail.slice(at), target].map((n) => `${n}.md`).join(" → ")}`, "take one of these includes out", "include.cycle");
    return 0;
  }
  const height = 1 + heightOf(walk, target);
  if (height > DEEPEST_INCLUDE) report(`includes nest ${height} deep here; at most ${DEEPEST_INCLUDE} are allowed`, "", "include.depth");
  return height;
}

function parsed(file: File): Template | undefined {
  if (file.text === undefined) return undefined;
  try {
    return parseTemplate(file.text, file.shown);
  } catch (error) {
    if (error instanceof TemplateError) return undefined;
    throw error;
  }
}
