import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createAnalyser } from "../../src/kiln/analyse-note.ts";
import { stem } from "../../src/kiln/stem.ts";
import { emptyTokens, hashWord, scanTokens, spelling } from "../../src/kiln/tokens.ts";
import { loadWordVectors } from "../../src/kiln/word-vectors.ts";
import { repository } from "../support/cru.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

function wordsOf(text: string): string[] {
  const tokens = emptyTokens();
  scanTokens(text, tokens);
  return Array.from({ length: tokens.count }, (_, i) => {
    const [hash, start, end] = tokens.data.subarray(i * 3, i * 3 + 3) as unknown as [number, number, number];
    const word = spelling(text, start, end);
    expect(hash).toBe(hashWord(word));
    return word;
  });
}

describe("words", () => {
  it("are runs of letters and digits in small letters", () => {
    expect(wordsOf("Retry, don't: utf8/S3 (ok)")).toEqual(["retry", "don", "t", "utf8", "s3", "ok"]);
  });

  it("of identifiers are their parts and the whole", () => {
    expect(wordsOf("retryBudget pg_cancel_backend HTTPServer")).toEqual(["retry", "budget", "retrybudget", "pg", "cancel", "backend", "httpserver"]);
  });

  it("of other scripts are found too, ideographs one by one", () => {
    expect(wordsOf("Übung ÜBUNG naïve 検索 поиск 🙂")).toEqual(["übung", "übung", "naïve", "検", "索", "поиск"]);
  });

  it("meet in their stems", () => {
    for (const forms of [["retry", "retries", "retried", "retrying"], ["stop", "stops", "stopped", "stopping"], ["cache", "caches", "cached", "caching"], ["box", "boxes"], ["class", "classes"]]) {
      expect(new Set(forms.map(stem)).size).toBe(1);
    }
    expect([stem("news"), stem("bus"), stem("string"), stem("red")]).toEqual(["new", "bus", "string", "red"]);
  });

  it("have vectors: like words are nearer than unlike ones, also words of the trade", () => {
    const words = loadWordVectors(join(repository, "assets", "word-vectors", "words.bin"));
    const analyser = createAnalyser(words);
    const likeness = (a: string, b: string): number => {
      const [x, y] = [analyser.vector(a), analyser.vector(b)];
      let sum = 0;
      for (let k = 0; k < x.length; k++) sum += (x[k] ?? 0) * (y[k] ?? 0);
      return sum / (40 * 40 * x.length);
    };
    expect(likeness("invoice", "invoice")).toBeCloseTo(1, 1);
    expect(likeness("invoice", "payment")).toBeGreaterThan(likeness("invoice", "forest") + 0.2);
    expect(likeness("kubernetes", "cluster")).toBeGreaterThan(0.4);
    expect(analyser.vector("qzxqzx").every((x) => x === 0)).toBe(true);
  });

  it("have none when the file is missing, short or somebody else's", () => {
    const folder = temporaryFolder();
    writeFiles(folder, { short: "CRUWV", other: "x".repeat(100), cut: Buffer.concat([Buffer.from("CRUWV\0\0\u0001"), Buffer.from([9, 0, 0, 0, 100, 0, 0, 0])]) });
    for (const name of ["none", "short", "other", "cut"]) expect(loadWordVectors(join(folder, name))).toBeUndefined();
  });
});
