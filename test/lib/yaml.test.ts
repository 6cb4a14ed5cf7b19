import * as fc from "fast-check";
import { dump, load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { readSimpleYaml } from "../../src/lib/yaml-simple.ts";
import { readYaml, YAML_LIMITS } from "../../src/lib/yaml.ts";

describe("readYaml", () => {
  it.each([
    "a: 1", "a: 017\nb: 0x1F\nc: 0o17", "a: -1.5e3\nb: .5\nc: 5.\nd: +3", "a: .inf\nb: -.INF\nc: .nan", "a: yes\nb: on\nc: 2026-01-01\nd: 12:30",
    "a:\nb: ~\nc: null\nd: ''\ne: \"\"", "a: true\nb: False\nc: 'true'", "a: [x, 'y', \"z\\n\", {b: c}]", "a: |\n  one\n  two\nb: >-\n  three\n  four\n",
    "- a\n- - b\n  - c\n- {}", "just text", "a: &anchor text", "\"quoted key\": 1\n? plain\n: 2", "a: b # comment", "? a\n", "a: \"\\u263a\"", "1: one\ntrue: two", "{a: , b}",
  ])("reads %j as the core schema says", (text) => {
    expect(readYaml(text)).toMatchObject({ faults: [] });
    expect(readYaml(text).value).toEqual(load(text));
  });

  it("agrees with the library on whatever it writes", () => {
    const scalars = fc.oneof(fc.string(), fc.integer(), fc.double(), fc.boolean(), fc.constant(null), fc.constantFrom("yes", "0x1", "1e3", "~", "null", "- a", "a: b", "#", "'", "<", "*x", "&y", "!z"));
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ maxDepth: 4 }, scalars, fc.array(tie("tree"), { maxLength: 4 }), fc.dictionary(fc.string({ maxLength: 8 }).filter((k) => !["__proto__", "constructor", "prototype", "<<"].includes(k)), tie("tree"), { maxKeys: 4 })),
    }));
    fc.assert(fc.property(tree, (value) => {
      const text = dump(value, { noRefs: true });
      const read = readYaml(text);
      expect(read.faults).toEqual([]);
      expect(read.value).toEqual(load(text));
    }), { numRuns: 500 });
  });

  it("reads the plainest lines without the parser, and to the same", () => {
    const word = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_-]{0,6}$/);
    const value = fc.oneof(
      word, fc.array(word, { minLength: 1, maxLength: 4 }).map((w) => `[${w.join(", ")}]`), fc.stringMatching(/^[ -~\u00a0-\u2030]{0,20}$/).map((s) => `"${s}"`),
      fc.stringMatching(/^[A-Za-z][ -~]{0,20}$/), fc.constantFrom("true", "null", "Null", "FALSE", "~", "[]", "[true, null]", "don't", "a - b", "a, b", "x ", " x", "1.5", "yes", "''"),
    );
    const line = fc.tuple(fc.constantFrom("name", "model", "a_b", "x", "constructor", "prototype", "__proto__", "A"), value).map(([k, v]) => `${k}: ${v}\n`);
    fc.assert(fc.property(fc.array(line, { minLength: 1, maxLength: 4 }), (lines) => {
      const simple = readSimpleYaml(lines.join(""));
      expect(simple === undefined || Object.keys(simple).every((k) => !["constructor", "prototype", "__proto__"].includes(k))).toBe(true);
      expect(simple ?? "the parser's").toEqual(simple === undefined ? "the parser's" : load(lines.join("")));
    }), { numRuns: 3000 });
    expect(readSimpleYaml('name: x\ndescription: "a: b"\npermissions: [Shell, FilesystemRead]\nenabled: true\n')).toEqual({ name: "x", description: "a: b", permissions: ["Shell", "FilesystemRead"], enabled: true });
  });

  it("never throws, and says nothing about what it can read", () => {
    const piece = fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), fc.constantFrom("a:", " ", "\n", "  ", "- ", "[", "]", "{", "}", ",", "*a", "&a ", "!t ", "<<: ", "'", "\"", "|\n", "---\n", "...\n", "? ", "%YAML 1.2\n", "\t", "#", "\\", "\uFEFF"));
    fc.assert(fc.property(fc.array(piece, { maxLength: 30 }).map((parts) => parts.join("")), (text) => {
      const { value, faults, locate } = readYaml(text);
      expect(value === undefined).toBe(faults.length > 0);
      for (const fault of faults) expect([fault.line >= 1, fault.column >= 1, fault.message !== "", fault.hint !== ""]).toEqual([true, true, true, true]);
      expect(locate(["a", 0, "b"], "value").line).toBeGreaterThanOrEqual(1);
    }), { numRuns: 1500 });
  });

  it.each([
    ["a duplicate key", "a: 1\nb: 2\na: 3", "yaml.duplicate_key", 3, 1, /2 lines above/],
    ["a duplicate key further in", "x:\n  a: 1\n  a: 2", "yaml.duplicate_key", 3, 3, /1 line above/],
    ["an alias", "a: &x 1\nb: *x", "yaml.alias", 2, 4, /write the value out/],
    ["an alias as a key", "a: &x k\n*x : 2", "yaml.alias", 2, 1, /write the value out/],
    ["a merge key", "a: {b: 1}\n<<: {c: 2}", "yaml.merge_key", 2, 1, /write the keys out/],
    ["a tag", "a: !!js/function 'x'", "yaml.tag", 1, 4, /remove the tag/],
    ["__proto__", "a: 1\n__proto__: {polluted: true}", "yaml.unsafe_key", 2, 1, /remove it/],
    ["a quoted __proto__ further in", "a:\n  - \"__proto__\": 1", "yaml.unsafe_key", 2, 5, /remove it/],
    ["constructor", "constructor: 1", "yaml.unsafe_key", 1, 1, /remove it/],
    ["two documents", "a: 1\n---\nb: 2", "yaml.several_documents", 3, 1, /keep one/],
    ["a tab", "a:\n\tb: 1", "yaml.syntax", 2, 1, /indent with spaces/],
    ["an open bracket", "a: [1, 2", "yaml.syntax", 1, 9, /close the bracket/],
    ["an open quote", "a: 'x\nb: 1", "yaml.syntax", 2, 1, /close the quotes or brackets/],
    ["a colon in text", "a: b: c", "yaml.syntax", 1, 5, /quote values/],
    ["a list as a key", "[a]: 1", "yaml.syntax", 1, 1, /quote it/],
    ["a NUL", "a: \u0000", "file.nul", 1, 4, /UTF-8 text/],
  ])("refuses %s and says where", (_, text, code, line, column, hint) => {
    const { value, faults } = readYaml(text);
    expect(value).toBeUndefined();
    expect(faults).toMatchObject([{ code, line, column, hint: expect.stringMatching(hint) }]);
  });

  it("counts lines from where the YAML stands in its file", () => {
    expect(readYaml("a: 1\na: 2", { firstLine: 10 }).faults).toMatchObject([{ line: 11 }]);
  });

  it("collects every fault, not only the first", () => {
    expect(readYaml("a: *x\nb: !t 1\nb: 2\n<<: 3").faults.map((f) => f.code)).toEqual(["yaml.alias", "yaml.tag", "yaml.duplicate_key", "yaml.merge_key"]);
  });

  it.each([
    ["aliases that would grow to a billion", `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefghi"].map((c, i) => `${c}: &${c} [${Array(9).fill(`*${"abcdefghi"[i]}`).join(",")}]`).join("\n")}`, "yaml.alias", 2],
    ["20,000 open brackets", "a: " + "[".repeat(20_000), "yaml.too_deep", 1],
    ["20,000 dashes", "- ".repeat(20_000), "yaml.too_deep", 1],
    ["more values than anybody writes", `a: [${"1,".repeat(YAML_LIMITS.nodes)}]`, "yaml.too_many_nodes", 1],
    ["more text than anybody writes", `a: ${"x".repeat(YAML_LIMITS.characters)}`, "file.too_large", 1],
    ["merge keys on aliases", "a: &a {x: 1}\nb:\n  <<: [*a, *a]", "yaml.merge_key", 3],
  ])("refuses %s", (_, text, code, line) => {
    expect(readYaml(text).faults[0]).toMatchObject({ code, line });
  });

  it.each([
    [["steps", 1, "run"], "key", 5, 5], [["steps", 1, "run"], "value", 5, 10], [["steps", 0], "value", 3, 5], [["list", 1], "value", 6, 11],
    [["quoted"], "value", 7, 9], [["missing"], "key", 1, 1], [["steps", 9, "x"], "key", 3, 3], [["empty"], "value", 8, 1], [["name"], "value", 1, 7],
  ] as const)("finds the place of %j (%s)", (path, what, line, column) => {
    const text = "name: x\nsteps:\n  - run: a\n    x: 1\n  - run: b\nlist: [a, bb]\nquoted: 'q'\nempty:\n";
    expect(readYaml(text).locate(path, what)).toEqual({ line, column });
  });
});
