import { execFileSync } from "node:child_process";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines, unifiedDiff } from "../../src/lib/diff.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

const names = { from: "a", to: "b" };

describe("unifiedDiff", () => {
  it("is empty for the same text", () => {
    expect(unifiedDiff("a\nb\n", "a\nb\n", names)).toBe("");
    expect(unifiedDiff("", "", names)).toBe("");
  });

  it("shows a change with three lines around it", () => {
    expect(unifiedDiff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n", names)).toBe(
      "--- a\n+++ b\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n",
    );
  });

  it("tells a missing last newline", () => {
    expect(unifiedDiff("a\n", "a", names)).toBe("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n");
  });

  it("keeps a carriage return as a difference", () => {
    expect(unifiedDiff("a\r\n", "a\n", names)).toContain("-a\r\n+a\n");
  });

  it("is the same as diff -u writes, for hunks that touch, ends and empty texts", () => {
    const many = (change: (i: number) => string): string => Array.from({ length: 40 }, (_, i) => change(i)).join("");
    const before = many((i) => `${i}\n`);
    const pairs = [
      [before, many((i) => (i === 10 || i === 17 ? `x${i}\n` : `${i}\n`))],
      [before, many((i) => (i === 10 || i === 18 ? `x${i}\n` : `${i}\n`))],
      [before, many((i) => (i === 0 || i === 39 ? "" : `${i}\n`))],
      ["", "a\nb\n"],
      ["a\nb\n", ""],
      ["a\n", "a\nb"],
    ] as const;
    for (const [a, b] of pairs) expect(body(unifiedDiff(a, b, names))).toBe(body(gnuDiff(a, b)));
  });

  it("applied to the first text gives the second, for any two texts", () => {
    const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n"), { maxLength: 30 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, text, fc.integer({ min: 0, max: 4 }), (a, b, context) => {
        expect(apply(a, unifiedDiff(a, b, { ...names, context }))).toBe(b);
      }),
      { numRuns: 500 },
    );
  });

  it("finds a shortest script and gives up on texts that have nothing in common", () => {
    expect(diffLines(["a", "b", "c", "a", "b", "b", "a"], ["c", "b", "a", "b", "a", "c"]).filter((c) => c.kind !== " ")).toHaveLength(5);
    const far = diffLines(Array.from({ length: 5000 }, (_, i) => `a${i}`), Array.from({ length: 5000 }, (_, i) => `b${i}`));
    expect(far).toHaveLength(10_000);
  });
});

function body(diff: string): string {
  return diff.split("\n").slice(2).join("\n");
}

function gnuDiff(a: string, b: string): string {
  const folder = temporaryFolder();
  writeFiles(folder, { a, b });
  try {
    return execFileSync("diff", ["-u", join(folder, "a"), join(folder, "b")], { encoding: "utf8" });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

/** A small `patch` that insists on every line it meets. */
function apply(before: string, diff: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const result: string[] = [];
  let at = 0;
  for (const line of diff.match(/[^\n]*\n/g)?.slice(2) ?? []) {
    const header = /^@@ -(\d+)(?:,(\d+))? /.exec(line);
    if (header !== null) {
      const start = header[2] === "0" ? Number(header[1]) : Number(header[1]) - 1;
      result.push(...old.slice(at, start));
      at = start;
      continue;
    }
    if (!line.startsWith("+") && old[at++] !== line.slice(1)) throw new Error(`the diff says ${line}`);
    if (!line.startsWith("-")) result.push(line.slice(1));
  }
  return [...result, ...old.slice(at)].join("");
}
