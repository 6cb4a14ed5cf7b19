import { array, assert, constantFrom, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { parseNote } from "../../src/kiln/parse-note.ts";

const headings = (text: string): (string | null)[] => parseNote("a.md", text).sections.map((s) => s.heading);

describe("parseNote", () => {
  it("gives a section a heading, each with its line", () => {
    const note = parseNote("a.md", "intro\n\n# One\ntext\n## Two ##\nmore\n");
    expect(note.sections.map(({ heading, line, start, end }) => [heading, line, note.text.slice(start, end)])).toEqual([
      [null, 1, "intro\n\n"],
      ["One", 3, "text\n"],
      ["Two", 5, "more\n"],
    ]);
  });

  it("takes no line of a code fence for a heading", () => {
    expect(headings("# Real\n```sh\n# not\n~~~\n# nor this\n```\n# Again\n")).toEqual(["Real", "Again"]);
    expect(headings("~~~~\n# not\n~~~\n# nor this\n~~~~\n# Real")).toEqual([null, "Real"]);
    expect(headings("# Real\n    # code\n#nospace\n")).toEqual(["Real"]);
    expect(headings("# A\n```\nnever closed\n# not\n")).toEqual(["A"]);
  });

  it("knows underlined headings, and a rule from one", () => {
    expect(headings("Title\n=====\ntext\n\nSub\n---\nmore\n\n---\n\nend\n")).toEqual(["Title", "Sub"]);
  });

  it("reads title, tags and aliases of the frontmatter, however they are written", () => {
    expect(parseNote("x/a.md", '---\ntitle: "The ledger"\ntags: [money, #core]\naliases:\n  - books\n  - "double entry"\nother: 1\n---\n# Heading\n')).toMatchObject({
      title: "The ledger", tags: ["money", "core"], aliases: ["books", "double entry"],
    });
    expect(parseNote("a.md", "---\ntags: one two\nalias: Solo name\n---\nx")).toMatchObject({ tags: ["one", "two"], aliases: ["Solo name"] });
  });

  it("takes the first heading as title, else the file's name", () => {
    expect(parseNote("notes/plan.md", "text only").title).toBe("plan");
    expect(parseNote("notes/plan.md", "text\n## The *real* [plan](x.md)\n").title).toBe("The real plan");
  });

  it("counts lines after frontmatter as an editor does, also with CRLF", () => {
    expect(parseNote("a.md", "---\r\ntitle: T\r\n---\r\n\r\n# One\r\n").sections.at(-1)).toMatchObject({ heading: "One", line: 5 });
  });

  it("treats a first rule without a second as text", () => {
    expect(parseNote("a.md", "---\n# Not frontmatter\n").sections.at(-1)?.heading).toBe("Not frontmatter");
  });

  it("finds the targets of wikilinks once each", () => {
    expect(parseNote("a.md", "See [[one]], [[two#part|label]], [[one]] and [[broken").links).toEqual(["one", "two"]);
  });

  it("cuts a long section into parts that go on where the last one ended", () => {
    const note = parseNote("a.md", `# Long\n${"some words in a paragraph\n\n".repeat(500)}`);
    expect(note.sections.length).toBeGreaterThan(3);
    expect(note.sections.filter((s) => s.end - s.start > 3001)).toEqual([]);
    expect(note.sections.slice(1).map((s) => s.start)).toEqual(note.sections.slice(0, -1).map((s) => s.end));
    const last = note.sections.at(-1);
    expect(note.text.slice(0, last?.start).split("\n").length).toBe(last?.line);
  });

  it("reads any text", () => {
    const piece = constantFrom("#", "# a", "```", "~~~", "---", "===", "\n", "\r\n", "[[", "]]", "- ", "tags:", "\u0000", "é", "text ");
    assert(
      property(array(piece, { maxLength: 60 }), (pieces) => {
        const note = parseNote("a.md", pieces.join(""));
        for (const { start, end } of note.sections) expect(start >= 0 && start <= end && end <= note.text.length).toBe(true);
      }),
    );
  });
});
