import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../../support/cru.ts";

const folder = join(repository, "test", "kiln");

export type Kind = "keyword" | "paraphrase";
export type RetrievalQuery = { kind: Kind; half: "tuning" | "report"; query: string; expected: string[] };
export type Measured = { recall1: number; recall5: number; mrr: number };

/** The notes of the retrieval set by path: the files of `corpus/` hold many each, divided by lines `@@ path`. */
export function corpus(): Record<string, string> {
  const notes: Record<string, string> = {};
  for (const file of readdirSync(join(folder, "corpus")).sort()) {
    for (const part of readFileSync(join(folder, "corpus", file), "utf8").split(/^@@ /m).slice(1)) {
      const end = part.indexOf("\n");
      notes[part.slice(0, end)] = part.slice(end + 1);
    }
  }
  return notes;
}

/** Within each kind every second query is kept for the report and never looked at while tuning. */
export function retrievalQueries(): RetrievalQuery[] {
  const file = JSON.parse(readFileSync(join(folder, "queries.json"), "utf8")) as Record<Kind, [string, string[]][]>;
  return (["keyword", "paraphrase"] as const).flatMap((kind) =>
    file[kind].map(([query, expected], i) => ({ kind, half: i % 2 === 0 ? ("tuning" as const) : ("report" as const), query, expected })),
  );
}

/** `find` gives paths, best first. */
export async function measure(queries: readonly RetrievalQuery[], find: (query: string) => Promise<string[]> | string[]): Promise<Measured> {
  let [first, five, reciprocal] = [0, 0, 0];
  for (const { query, expected } of queries) {
    const place = (await find(query)).findIndex((path) => expected.includes(path));
    if (place < 0) continue;
    if (place === 0) first++;
    if (place < 5) five++;
    reciprocal += 1 / (place + 1);
  }
  const share = (n: number): number => Math.round((n / queries.length) * 1000) / 1000;
  return { recall1: share(first), recall5: share(five), mrr: share(reciprocal) };
}
