import { createHash } from "node:crypto";
import { join } from "node:path";
import { createAnalyser, quantise } from "./analyse-note.ts";
import { createByteMath } from "./byte-math.ts";
import type { Embedder } from "./embedder.ts";
import { type Excerpt, excerptOf } from "./excerpt.ts";
import type { NotesPlace } from "./find-notes.ts";
import { createLikeness } from "./likeness.ts";
import { type KeptNote, loadNotes } from "./note-store.ts";
import { type NotePack, packNotes } from "./pack-notes.ts";
import { nameOf } from "./parse-note.ts";
import { type Query, rankNotes } from "./rank-notes.ts";
import { createNoteReader } from "./read-note-file.ts";
import { type RefreshFigures, refreshNotes } from "./refresh-notes.ts";
import { loadWordVectors } from "./word-vectors.ts";

export type Found = Excerpt & { path: string; title: string; score: number };
export type NoteEntry = { path: string; title: string; tags: string[]; aliases: string[] };

/** The notes of one folder. The index lives in memory and is kept in the user's cache; it is never taken from the project. */
export type Kiln = {
  /** Brings the index up to date; unchanged notes cost a look at their times. Calls wait for each other. */
  refresh(options?: { signal?: AbortSignal; onProgress?: (done: number, total: number) => void }): Promise<RefreshFigures>;
  /** Best first, one row a note, from the index as it is. */
  search(query: string, options: { limit: number; signal?: AbortSignal }): Promise<Found[]>;
  list(folder?: string): NoteEntry[];
  /** Notes that a path, a name, a title or a `[[link]]` means; the nearest kind of match only. */
  resolve(name: string): string[];
};

export type KilnPlaces = NotesPlace & { cacheFolder: string; wordVectors: string };

/** Below this, notes have nothing to do with the query. */
const LEAST_SCORE = 0.08;

export function openKiln(places: KilnPlaces, deps: { embedder?: Embedder | undefined } = {}): Kiln {
  const { embedder } = deps;
  const words = loadWordVectors(places.wordVectors);
  const math = words?.math ?? createByteMath(0, 0);
  const store = { path: indexFile(places), meaning: `words ${words?.rows ?? 0} ${embedder?.id ?? "word vectors"}` };
  const kept = loadNotes(store);
  const analyser = createAnalyser(words, kept.vocabulary);
  const notes = new Map<string, KeptNote>(kept.notes.map((note) => [note.path, note]));
  /** Undefined when the notes may have changed. */
  let pack: NotePack<KeptNote> | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  const queryWords = (text: string): Pick<Query, "words" | "likeness"> => {
    const asked = analyser.query(text);
    return { words: asked, likeness: words && createLikeness(asked.map(({ row }) => row).filter((row) => row >= 0), words) };
  };

  const asQuery = async (text: string, signal: AbortSignal | undefined): Promise<Query> => {
    const asked = queryWords(text);
    if (embedder === undefined) return { ...asked, vector: words === undefined ? undefined : analyser.vector(text) };
    const made = await embedder.embed([text], signal);
    const [vector] = made.ok ? made.vectors : [];
    return { ...asked, vector: vector === undefined ? undefined : quantise(vector, new Int8Array(vector.length)) };
  };

  return {
    refresh(options = {}) {
      const next = turn.then(async () => {
        let figures: RefreshFigures | undefined;
        try {
          return (figures = await refreshNotes(places, notes, { analyser, store, embedder, ...options }));
        } finally {
          if (figures === undefined || figures.added + figures.changed + figures.removed > 0) pack = undefined;
        }
      });
      turn = next.catch(() => {});
      return next;
    },
    async search(text, { limit, signal }) {
      const query = await asQuery(text, signal);
      const reader = createNoteReader(places.root);
      const found: Found[] = [];
      for (const { note, score } of rankNotes(query, (pack ??= packNotes([...notes.values()], analyser.table)), math)) {
        if (found.length >= limit || score < LEAST_SCORE) break;
        const file = reader.read(note.path);
        if (file === undefined) continue;
        const excerpt = excerptOf(note.path, file.text, query, { analyser, words, math });
        found.push({ path: note.path, title: note.title, score: Math.round(Math.min(1, score) * 1000) / 1000, ...excerpt });
      }
      return found;
    },
    list(folder = "") {
      const below = folder.replace(/^\.?\/+|\/+$|^\.$/g, "");
      const chosen = below === "" ? [...notes.values()] : [...notes.values()].filter((note) => note.path.startsWith(`${below}/`));
      return chosen.map(({ path, title, tags, aliases }) => ({ path, title, tags, aliases })).sort((a, b) => (a.path < b.path ? -1 : 1));
    },
    resolve: (name) => resolveNote(name, notes),
  };
}

function indexFile(places: KilnPlaces): string {
  return join(places.cacheFolder, "kiln", `${createHash("sha256").update(places.root).digest("hex").slice(0, 16)}.idx`);
}

function resolveNote(name: string, notes: ReadonlyMap<string, KeptNote>): string[] {
  const wanted = name.trim().replace(/^\[\[|\]\]$/g, "").replace(/[#|].*$/s, "").trim().replace(/^\.\//, "");
  if (wanted === "") return [];
  if (notes.has(wanted)) return [wanted];
  const small = wanted.toLowerCase();
  const kinds: ((note: KeptNote) => boolean)[] = [
    (note) => note.path.toLowerCase() === small || note.path.toLowerCase() === `${small}.md`,
    (note) => nameOf(note.path).toLowerCase() === small || note.path.toLowerCase().endsWith(`/${small}.md`) || note.path.toLowerCase().endsWith(`/${small}`),
    (note) => note.aliases.some((alias) => alias.toLowerCase() === small),
    (note) => note.title.toLowerCase() === small,
  ];
  for (const isMeant of kinds) {
    const found = [...notes.values()].filter(isMeant).map((note) => note.path);
    if (found.length > 0) return found.sort();
  }
  return [];
}
