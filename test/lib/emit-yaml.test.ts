import { assert, dictionary, jsonValue, property, string } from "fast-check";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { frontmatter, type YamlValue } from "../../src/lib/emit-yaml.ts";

const body = (text: string): string => text.replace(/^---\n/, "").replace(/---\n$/, "");

describe("frontmatter", () => {
  it("reads like a person wrote it", () => {
    expect(frontmatter({ name: "code-reviewer", parent: "[[session]]", tokens: { input: 1, output: 2 }, permissions: ["FilesystemRead"], error: null, left_out: undefined, list: [{ a: 1, b: "x: y" }], none: [], empty: {} })).toBe(
      '---\nname: code-reviewer\nparent: "[[session]]"\ntokens:\n  input: 1\n  output: 2\npermissions: [FilesystemRead]\nerror: null\nlist:\n  - a: 1\n    b: "x: y"\nnone: []\nempty: {}\n---\n',
    );
  });

  it("gives back every text as it was, whatever it looks like", () => {
    for (const text of ["true", "no", "null", "~", "1", "1e3", "0x1f", "2026-11-16", "2026-11-16T10:00:00.000Z", "12:30:45", "- a", "a: b", "a #b", "---", "...", "%x", "&a", "*a", "!t", "|", ">", "'", '"', "\\", "a\nb", "\t", " a ", "", "]]", "\u0085", "\u2028", "\ufeff", "\u001b[31m", "é🙂", "\ud800", "y", "Infinity", "<<", "="]) {
      expect(load(body(frontmatter({ [text]: text, list: [text], nested: [{ [text]: text }] })))).toEqual({ [text]: text, list: [text], nested: [{ [text]: text }] });
    }
  });

  it("gives back every value that JSON can hold", () => {
    assert(
      property(dictionary(string({ unit: "binary", maxLength: 12 }).filter((key) => key !== "__proto__"), jsonValue({ maxDepth: 3 }), { minKeys: 1, maxKeys: 5 }), (value) => {
        const text = JSON.stringify(value);
        if (text.includes("__proto__")) return;
        expect(load(body(frontmatter(value as Record<string, YamlValue>)))).toEqual(JSON.parse(text));
      }),
      { numRuns: 500, seed: 7 },
    );
  });
});
