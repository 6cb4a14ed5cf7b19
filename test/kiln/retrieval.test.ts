import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createAnalyser } from "../../src/kiln/analyse-note.ts";
import { createByteMath } from "../../src/kiln/byte-math.ts";
import { createLikeness } from "../../src/kiln/likeness.ts";
import { packNotes } from "../../src/kiln/pack-notes.ts";
import { parseNote } from "../../src/kiln/parse-note.ts";
import { rankNotes, type Weights, WEIGHTS } from "../../src/kiln/rank-notes.ts";
import { loadWordVectors } from "../../src/kiln/word-vectors.ts";
import { repository } from "../support/cru.ts";
import { corpus, type Kind, measure, type Measured, retrievalQueries } from "./support/retrieval.ts";

const words = loadWordVectors(join(repository, "assets", "word-vectors", "words.bin"));
const analyser = createAnalyser(words);
const notes = Object.entries(corpus()).map(([path, text]) => ({ path, ...analyser.note(path, parseNote(path, text), { vectors: true }) }));
const pack = packNotes(notes, analyser.table);
const queries = retrievalQueries();

function find(query: string, weights: Weights): string[] {
  const asked = analyser.query(query);
  return rankNotes({ words: asked, likeness: words && createLikeness(asked.map((w) => w.row).filter((row) => row >= 0), words), vector: analyser.vector(query) }, pack, words?.math ?? createByteMath(0, 0), weights).map(({ note }) => note.path);
}

const report = (kind: Kind, weights: Weights = WEIGHTS): Promise<Measured> =>
  measure(queries.filter((q) => q.kind === kind && q.half === "report"), (query) => find(query, weights));

describe("retrieval set", () => {
  it("has at least 150 notes and 60 queries, half of them paraphrases, and every expected note exists", () => {
    const paths = new Set(notes.map((note) => note.path));
    expect(paths.size).toBeGreaterThanOrEqual(150);
    expect(queries.length).toBeGreaterThanOrEqual(60);
    expect(queries.filter((q) => q.kind === "paraphrase").length * 2).toBe(queries.length);
    expect(queries.flatMap((q) => q.expected).filter((path) => !paths.has(path))).toEqual([]);
  });

  // Floors a little below what is measured (see docs/notes.md); everything here is deterministic.
  it("on the half that nothing was tuned on, finds what is asked for with its own words", async () => {
    const { recall1, recall5 } = await report("keyword");
    expect(recall1).toBeGreaterThanOrEqual(0.95);
    expect(recall5).toBe(1);
  });

  it("on that half, finds what is asked for with other words more than twice as often as words alone do", async () => {
    const hybrid = await report("paraphrase");
    const wordsAlone = await report("paraphrase", { exact: 1, near: 0, whole: 0 });
    expect(hybrid.recall5).toBeGreaterThanOrEqual(0.45);
    expect(hybrid.mrr).toBeGreaterThanOrEqual(0.3);
    expect(hybrid.recall5).toBeGreaterThan(2 * wordsAlone.recall5);
  });

  it("on that half, both together beat meaning alone", async () => {
    for (const kind of ["keyword", "paraphrase"] as const) {
      expect((await report(kind)).mrr).toBeGreaterThan((await report(kind, { exact: 0, near: 0, whole: 1 })).mrr);
    }
  });
});
