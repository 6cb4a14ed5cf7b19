import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inline, setInYaml } from "../../src/lib/yaml-edit.ts";
import { readYaml } from "../../src/lib/yaml.ts";

const set = (text: string, key: string, value: unknown): string => {
  const edit = setInYaml(text, key.split("."), value);
  return edit.ok ? edit.text : `refused: ${edit.reason}`;
};

describe("setInYaml", () => {
  it.each([
    ["a new key in an empty file", "", "model", "opus", "model: opus\n"],
    ["a new key behind comments", "# mine\n", "model", "opus", "# mine\nmodel: opus\n"],
    ["a new key without a last newline", "a: 1", "model", "opus", "a: 1\nmodel: opus\n"],
    ["a new section", "a: 1\n", "limits.budget_usd", 5, "a: 1\nlimits:\n  budget_usd: 5\n"],
    ["a value, its comment kept", "model: haiku   # cheap\nb: 2\n", "model", "opus", "model: opus   # cheap\nb: 2\n"],
    ["a quoted value", "model: 'a: b' # x\n", "model", "opus", "model: opus # x\n"],
    ["a double-quoted value", 'model: "a \\" # b"\n', "model", "opus", "model: opus\n"],
    ["a quoted key", "'model': haiku\n", "model", "opus", "'model': opus\n"],
    ["a value with a hash in it", "model: a#b # c\n", "model", "opus", "model: opus # c\n"],
    ["a key of a block section", "limits:\n  # money\n  budget_usd: 1 # usd\n  time: 2h\n", "limits.budget_usd", 5, "limits:\n  # money\n  budget_usd: 5 # usd\n  time: 2h\n"],
    ["a new key of a block section", "limits:\n    time: 2h # long\n\nb: 1\n", "limits.budget_usd", 5, "limits:\n    budget_usd: 5\n    time: 2h # long\n\nb: 1\n"],
    ["a key of a flow section", "limits: {budget_usd: 1, time: 2h} # x\n", "limits.budget_usd", 5, "limits: {budget_usd: 5, time: 2h} # x\n"],
    ["the last key of a flow section", "limits: {budget_usd: 1, time: 2h} # x\n", "limits.time", "3h", "limits: {budget_usd: 1, time: 3h} # x\n"],
    ["a new key of a flow section", "limits: { time: 2h }\nb: 1\n", "limits.budget_usd", 5, "limits: { time: 2h, budget_usd: 5 }\nb: 1\n"],
    ["a new key of an empty flow section", "limits: {}\n", "limits.budget_usd", 5, "limits: {budget_usd: 5}\n"],
    ["a section with everything commented out", "limits:\n  # time: 1h\nb: 1\n", "limits.budget_usd", 5, "limits:\n  budget_usd: 5\n  # time: 1h\nb: 1\n"],
    ["an empty section at the end", "limits:", "limits.budget_usd", 5, "limits:\n  budget_usd: 5\n"],
    ["a deeper key", "queue:\n  providers:\n    anthropic: 4\n", "queue.providers.local", 2, "queue:\n  providers:\n    local: 2\n    anthropic: 4\n"],
    ["a deeper new section", "queue:\n  max_concurrent: 2\n", "queue.providers.local", 2, "queue:\n  providers:\n    local: 2\n  max_concurrent: 2\n"],
    ["a flow list", "deny: [Shell, 'a]b'] # why\n", "deny", ["X"], "deny: [X] # why\n"],
    ["a block list", "a:\n  - 1\n  - 2\nb: 3\n", "a", [4], "a: [4]\nb: 3\n"],
    ["a block list at the key's own depth", "a:\n- 1\n- 2\nb: 3\n", "a", [], "a: []\nb: 3\n"],
    ["a block text", "a: |\n  one\n  two\nb: 3\n", "a", "x", "a: x\nb: 3\n"],
    ["null", "a: 1\n", "a", null, "a: null\n"],
    ["an empty value", "a:\nb: 1\n", "a", "x", "a: x\nb: 1\n"],
    ["text that must be quoted", "a: 1\n", "a", "no: #x", 'a: "no: #x"\n'],
    ["text that looks like a number", "a: 1\n", "a", "1.5", 'a: "1.5"\n'],
    ["CRLF files", "a: 1\r\nb: 2 # c\r\n", "b", 3, "a: 1\r\nb: 3 # c\r\n"],
    ["a new key in a CRLF file", "a: 1\r\n", "b", 3, "a: 1\r\nb: 3\r\n"],
    ["a document marker", "---\na: 1\n", "b", 2, "---\na: 1\nb: 2\n"],
    ["a file in flow style", "{a: 1}\n", "b", 2, "{a: 1, b: 2}\n"],
    ["a JSON file", '{\n  "a": 1\n}\n', "b", 2, '{\n  "a": 1, b: 2\n}\n'],
    ["the same value", "a: 1 # x\n", "a", 1, "a: 1 # x\n"],
  ])("%s", (_, text, key, value, expected) => {
    expect(set(text, key, value)).toBe(expected);
  });

  it.each([
    ["a list with comments inside", "a:\n  - 1 # important\n  - 2\n", "a", [3]],
    ["a document end", "a: 1\n...\n", "b", 2],
    ["a file that is a list", "- 1\n", "a", 2],
    ["a file that is no YAML", "a: [\n", "a", 2],
    ["a file with an alias", "a: &x 1\nb: *x\n", "a", 2],
    ["a scalar where a section is wanted", "limits: 5\n", "limits.time", "1h"],
  ])("refuses %s rather than lose something", (_, text, key, value) => {
    expect(set(text, key, value)).toMatch(/^refused: it /);
  });

  it("never changes the meaning or the comments of anything else, for any file", () => {
    const key = fc.constantFrom("a", "b", "c");
    const scalar = fc.constantFrom("1", "x", "'q # q'", '"d: d"', "null", "[1, {z: 2}]", "{}", "{z: [1]}", "", "a#b");
    const comment = fc.constantFrom("", " # note", "  # a: [}");
    const entry = fc.tuple(scalar, comment).map(([v, c]) => ` ${v}${c}\n`);
    const section = fc.dictionary(key, entry, { minKeys: 1 }).map((d) => `\n  # inside\n${Object.entries(d).map(([k, v]) => `  ${k}:${v}`).join("")}`);
    const file = fc.dictionary(key, fc.oneof(entry, section)).map((d) => `# top\n${Object.entries(d).map(([k, v]) => `${k}:${v}`).join("")}`);
    const value = fc.oneof(fc.string({ unit: "binary" }), fc.integer(), fc.boolean(), fc.array(fc.string()), fc.constant(null));
    fc.assert(
      fc.property(file, fc.array(key, { minLength: 1, maxLength: 2 }), value, (text, path, wanted) => {
        fc.pre(readYaml(text).faults.length === 0);
        const edit = setInYaml(text, path, wanted);
        if (!edit.ok) return;
        expect(comments(edit.text)).toEqual(comments(text));
        expect(path.reduce<unknown>((at, k) => (at as Record<string, unknown>)[k], readYaml(edit.text).value)).toEqual(wanted);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("inline", () => {
  it("reads back as the same value, for any value", () => {
    const text = fc.string({ unit: "binary" });
    fc.assert(fc.property(fc.oneof(text, fc.array(text), fc.dictionary(fc.stringMatching(/^[a-z]+[0-9]$/), text)), (value) => {
      expect(readYaml(inline(value)).value).toEqual(value);
    }));
  });
});

function comments(text: string): string[] {
  return text.split("\n").flatMap((line) => /(?:^|\s)# (?:top|inside|note|a: \[\})$/.exec(line)?.[0].trim() ?? []).sort();
}
