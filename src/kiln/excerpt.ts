import type { Analyser } from "./analyse-note.ts";
import type { ByteMath } from "./byte-math.ts";
import { type ParsedNote, parseNote, type Section } from "./parse-note.ts";
import { packNotes } from "./pack-notes.ts";
import { type Query, rankNotes } from "./rank-notes.ts";
import type { WordVectors } from "./word-vectors.ts";

export type Excerpt = { heading: string | null; line: number; snippet: string };

const SNIPPET = 200;
const LEAD = 60;
const MOST_SECTIONS = 100;

/** The section of a note that answers best, and some words around the place where it does. */
export function excerptOf(path: string, text: string, query: Query, deps: { analyser: Analyser; words: WordVectors | undefined; math: ByteMath }): Excerpt {
  const note = parseNote(path, text);
  const sections = note.sections.slice(0, MOST_SECTIONS).map((section) => ({ section, ...deps.analyser.note("", asNote(note, section), { vectors: true }) }));
  // An endpoint's vector cannot be compared with the sections' word vectors.
  const vector = query.vector?.length === deps.words?.dimensions ? query.vector : undefined;
  const { stemOf, rowOf } = deps.analyser.table;
  // Only the stems that were asked for, by their places in the query: all that were ever met are too many for one note.
  const placeOf = new Map(query.words.map((word, place) => [word.stem, place]));
  const words = query.words.map((word, stem) => ({ ...word, stem }));
  const pack = packNotes(sections, { stems: words.length + 1, stemOf: (word) => placeOf.get(stemOf(word)) ?? words.length, rowOf });
  const best = rankNotes({ ...query, words, vector }, pack, deps.math)[0]?.note.section ?? note.sections[0];
  if (best === undefined) return { heading: null, line: 1, snippet: "" };
  const body = note.text.slice(best.start, best.end).replace(/\s+/g, " ").trim() || (best.heading ?? "");
  const from = start(body, query, deps.analyser);
  const cut = body.slice(from, from + SNIPPET);
  return { heading: best.heading, line: best.line, snippet: `${from > 0 ? "…" : ""}${cut}${from + SNIPPET < body.length ? "…" : ""}` };
}

function asNote(note: ParsedNote, section: Section): ParsedNote {
  return { title: "", tags: [], aliases: [], links: [], text: note.text, sections: [section] };
}

/** Where a window holds most of the words that were asked for, moved to the start of a word. */
function start(body: string, query: Query, analyser: Analyser): number {
  if (body.length <= SNIPPET) return 0;
  const places = analyser.places(body, new Set(query.words.map((w) => w.stem)));
  let most = 0;
  let at = 0;
  for (const place of places) {
    const inside = new Set(places.filter((p) => p.at >= place.at && p.at < place.at + SNIPPET - LEAD).map((p) => p.stem)).size;
    if (inside > most) [most, at] = [inside, place.at];
  }
  if (at <= LEAD) return 0;
  const space = body.indexOf(" ", at - LEAD);
  return space < 0 || space >= at ? at : space + 1;
}
