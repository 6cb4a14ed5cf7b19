import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitFrontmatter, trimmedBody } from "../../src/lib/frontmatter.ts";

describe("splitFrontmatter", () => {
  it.each([
    ["---\na: 1\n---\nbody\n", { yaml: "a: 1\n", closed: true, body: "body\n", bodyLine: 4 }],
    ["---\n---\nbody", { yaml: "", closed: true, body: "body", bodyLine: 3 }],
    ["---\na: 1\n---", { yaml: "a: 1\n", closed: true, body: "", bodyLine: 4 }],
    ["\uFEFF---\r\na: 1\r\n---\r\nb\r\n", { yaml: "a: 1\n", closed: true, body: "b\n", bodyLine: 4 }],
    ["---  \na: 1\n--- \nb", { yaml: "a: 1\n", closed: true, body: "b", bodyLine: 4 }],
    ["---\na: 1\n----\n--- x\n ---\n---\nb", { yaml: "a: 1\n----\n--- x\n ---\n", closed: true, body: "b", bodyLine: 7 }],
    ["text\n---\na: 1\n---\n", { yaml: undefined, closed: false, body: "text\n---\na: 1\n---\n", bodyLine: 1 }],
    ["", { yaml: undefined, closed: false, body: "", bodyLine: 1 }],
    ["---", { yaml: "", closed: false, body: "" }],
    ["---\na: 1\n", { yaml: "a: 1\n", closed: false, body: "" }],
    ["---\na: 1\n---\n---\nb", { yaml: "a: 1\n", closed: true, body: "---\nb", bodyLine: 4 }],
  ])("splits %j", (text, parts) => {
    expect(splitFrontmatter(text)).toMatchObject(parts);
  });

  it("gives back every body and every YAML without a line of dashes", () => {
    const lines = fc.array(fc.string({ unit: "grapheme", maxLength: 12 }).map((s) => s.replace(/[\r\n]/g, "")).filter((s) => s.trimEnd() !== "---"), { maxLength: 6 });
    fc.assert(fc.property(lines, lines, (yaml, body) => {
      const text = `---\n${yaml.map((l) => `${l}\n`).join("")}---\n${body.join("\n")}`;
      expect(splitFrontmatter(text)).toEqual({ yaml: yaml.map((l) => `${l}\n`).join(""), closed: true, body: body.join("\n"), bodyLine: yaml.length + 3 });
    }));
  });

  it("trims blank lines around a body, not the indentation of its first line", () => {
    expect(trimmedBody("\n  \n\t\n    code\ntext \n\n")).toBe("    code\ntext");
  });
});
