import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSpell, loadSpells, renderSpell, type SpellBook, type SpellDeps } from "../../src/catalog/spells.ts";
import { findPaths } from "../../src/config/paths.ts";
import { CruError } from "../../src/contract/error.ts";
import { repository } from "../support/cru.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

function project(files: Record<string, string | Uint8Array>): { root: string; open(): SpellBook } {
  const root = temporaryFolder();
  writeFiles(root, { ".coven/.keep": "", ...files });
  return { root, open: () => loadSpells(findPaths(root, { HOME: "/nowhere" }), { show: (path) => path.replace(`${root}/`, "") }) };
}

function show(files: Record<string, string>, spell: string, data: unknown = {}, more: Partial<SpellDeps> = {}): string {
  const { open } = project(files);
  return renderSpell(spell, data, { book: open, ...more });
}

function failure(act: () => unknown): CruError {
  try {
    act();
  } catch (error) {
    if (error instanceof CruError) return error;
    throw error;
  }
  throw new Error("no error");
}

const builtin = (name: string): string => readFileSync(join(repository, "builtin", "spells", name), "utf8");
const bead = { id: "app-1", title: "Add a login page", description: "With a form.", acceptance_criteria: "- it logs in", labels: ["web", "auth"], type: "feature" };

describe("a spell by name", () => {
  it("[ORC-3.1.1] [EXE-7.1.1] [EXE-7.1.2] is .coven/spells/NAME.md, with its variables filled in", () => {
    expect(show({ ".coven/spells/implement.md": "Do {{.bead.title}}." }, "implement", { bead })).toBe("Do Add a login page.");
  });

  it("[ORC-3.1.2] is our own when the project has none of that name", () => {
    const text = show({ ".coven/spells/other.md": "x" }, "implement", { bead });
    expect(text).toContain("# Task app-1: Add a login page");
    expect(findSpell("implement", project({}).open())).toMatchObject({ source: "builtin", text: builtin("implement.md") });
  });

  it("is in .coven/prompts when it is not in .coven/spells", () => {
    const files = { ".coven/prompts/a.md": "prompt a", ".coven/prompts/b.md": "prompt b", ".coven/spells/b.md": "spell b" };
    expect([show(files, "a"), show(files, "b")]).toEqual(["prompt a", "spell b"]);
  });

  it("may lie in a folder below", () => {
    expect(show({ ".coven/spells/review/strict.md": "strict" }, "review/strict")).toBe("strict");
  });

  it("does not fall back to ours when the project's own is broken", () => {
    const error = failure(() => show({ ".coven/spells/implement.md": "one\n{{if}}" }, "implement", { bead }));
    expect(error).toMatchObject({ code: "invalid_template", exitCode: 3 });
    expect(error.message).toBe('.coven/spells/implement.md:2:5: missing value for "if"');
  });

  it("is not found with a suggestion", () => {
    const error = failure(() => show({}, "implemnet"));
    expect(error).toMatchObject({ code: "not_found", exitCode: 2, message: "spell not found: implemnet", hint: "did you mean 'implement'?" });
  });

  it.each(["../secret", "/etc/passwd", "a/../../b", "", ".", "a\\b", "a\0b", "./implement"])("cannot be %j", (name) => {
    expect(failure(() => show({ "secret.md": "s", ".coven/secret.md": "s" }, name)).exitCode).toBe(2);
  });
});

describe("an inline spell", () => {
  it("[ORC-3.2.1] [EXE-7.2.1] is the template itself", () => {
    expect(show({}, "Do\n{{.bead.title}}\n", { bead })).toBe("Do\nAdd a login page\n");
    expect(failure(() => show({}, "a\n{{.x}}")).message).toBe('inline spell:2:3: unknown name ".x"');
  });

  it("[ORC-3.2.2] [EXE-7.2.2] looks for no file, even when there is one of that name", () => {
    const { root } = project({});
    writeFiles(root, { ".coven/spells/a\nb.md": "from the file" });
    const book = (): SpellBook => {
      throw new Error("a file was looked for");
    };
    expect(renderSpell("a\nb", {}, { book })).toBe("a\nb");
  });

  it("can include partials", () => {
    expect(show({ ".coven/spells/p.md": "[{{.x}}]" }, 'a\n{{include "p.md" x=1}}')).toBe("a\n[1]");
  });
});

describe("a partial", () => {
  it("[ORC-11.3.1] [ORC-11.3.2] is .coven/spells/NAME, then our own", () => {
    const spell = '{{include "output-contract.md"}}';
    expect(show({ ".coven/spells/s.md": spell }, "s")).toContain('"success": true');
    expect(show({ ".coven/spells/s.md": spell, ".coven/spells/output-contract.md": "mine" }, "s")).toBe("mine");
    expect(show({ ".coven/spells/s.md": spell, ".coven/prompts/output-contract.md": "prompt" }, "s")).toBe("prompt");
  });

  it("[ORC-11.3.3] that is nowhere is an error at the include", () => {
    const error = failure(() => show({ ".coven/spells/s.md": 'x\n  {{include "output-contrat.md"}}' }, "s"));
    expect(error.message).toBe('.coven/spells/s.md:2:5: no partial "output-contrat.md"');
    expect(error).toMatchObject({ exitCode: 3, hint: "did you mean 'output-contract.md'?" });
  });

  it("[ORC-11.4.1] [ORC-11.4.2] of files may not go in a circle or six deep", () => {
    const chain = Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`.coven/spells/p${n}.md`, n === 6 ? "end" : `{{include "p${n + 1}.md"}}`]));
    expect(show(chain, "p1")).toBe("end");
    expect(failure(() => show({ ...chain, ".coven/spells/p0.md": '{{include "p1.md"}}' }, "p0")).message).toContain("includes may be nested at most 5 deep");
    const circle = { ".coven/spells/a.md": '{{include "b.md"}}', ".coven/prompts/b.md": '{{include "a.md"}}' };
    expect(failure(() => show(circle, "a")).message).toBe(".coven/prompts/b.md:1:3: circular include: a.md → b.md → a.md");
  });

  it("asks for leave to use every file, spell and partial", () => {
    const asked: string[] = [];
    const files = { ".coven/spells/s.md": '{{include "p.md"}}{{include "output-contract.md"}}', ".coven/spells/p.md": "p" };
    show(files, "s", {}, { check: (file) => void asked.push(`${file.source}:${file.name}:${file.hash.length}`) });
    expect(asked).toEqual(["project:s:64", "project:p:64", "builtin:output-contract:64"]);
  });
});

describe("files that a stranger wrote", () => {
  it("a symlink that leaves the folder is refused, as spell and as partial", () => {
    const { root, open } = project({ "secret.md": "secret", ".coven/spells/s.md": '{{include "link.md"}}', ".coven/spells/real.md": "real" });
    symlinkSync(join(root, "secret.md"), join(root, ".coven/spells/link.md"));
    symlinkSync("real.md", join(root, ".coven/spells/inside.md"));
    for (const name of ["link", "s"]) {
      const error = failure(() => renderSpell(name, {}, { book: open }));
      expect(error).toMatchObject({ code: "invalid_definition", exitCode: 3 });
      expect(error.message).toContain(".coven/spells/link.md:1:1: a symlink that leaves its folder");
    }
    expect(renderSpell("inside", {}, { book: open })).toBe("real");
    expect(open().problems).toMatchObject([{ path: ".coven/spells/link.md", code: "file.outside" }]);
  });

  it("a spells folder that leads out of the project holds nothing", () => {
    const outside = temporaryFolder();
    writeFiles(outside, { "stolen.md": "stolen" });
    const { root, open } = project({});
    symlinkSync(outside, join(root, ".coven/spells"));
    expect(open().files.has("stolen")).toBe(false);
    expect(open().problems).toMatchObject([{ path: ".coven/spells", code: "file.outside" }]);
  });

  it.each([
    ["too large", "x".repeat(1024 * 1024 + 1), "file.too_large"],
    ["not UTF-8", Uint8Array.of(0x61, 0xff), "file.not_utf8"],
    ["not UTF-8 after many characters that stand for it", Buffer.concat([Buffer.from("\uFFFD".repeat(300_000)), Uint8Array.of(0xff)]), "file.not_utf8"],
    ["with a NUL", "a\0b", "file.nul"],
  ])("a file that is %s is refused and stops nothing else", (_, content, code) => {
    const { open } = project({ ".coven/spells/bad.md": content, ".coven/spells/good.md": "good" });
    const book = open();
    expect(book.problems).toMatchObject([{ path: ".coven/spells/bad.md", code, severity: "error" }]);
    expect(failure(() => renderSpell("bad", {}, { book: () => book }))).toMatchObject({ code: "invalid_definition" });
    expect(renderSpell("good", {}, { book: () => book })).toBe("good");
  });

  it("a FIFO and a folder with a spell's name are refused without waiting", () => {
    const { root, open } = project({ ".coven/spells/x.md": "x" });
    execFileSync("mkfifo", [join(root, ".coven/spells/pipe.md")]);
    mkdirSync(join(root, ".coven/spells/folder.md"));
    expect(open().problems.map((p) => [p.path, p.code])).toEqual([[".coven/spells/pipe.md", "file.not_a_file"]]);
  });

  it("a byte order mark is no part of the text", () => {
    expect(show({ ".coven/spells/bom.md": "\uFEFFtext" }, "bom")).toBe("text");
  });
});

describe("problems of spells", () => {
  it.each([
    ["a syntax error", { "a.md": "x\n{{else}}" }, "template.syntax", 2, 3],
    ["a partial that is not there, reached or not", { "a.md": '{{if false}}\n{{include "gone.md"}}{{end}}' }, "include.not_found", 2, 3],
    ["a circle", { "a.md": '{{include "b.md"}}', "b.md": '\n\n{{include "a.md"}}' }, "include.cycle", 3, 3],
    ["a name that leads out", { "a.md": '{{include "../x.md"}}' }, "include.outside", 1, 11],
    [
      "a chain that is too long",
      { "p0.md": ' {{include "p1.md"}}', ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`p${n}.md`, n === 6 ? "" : `{{include "p${n + 1}.md"}}`])) },
      "include.depth", 1, 4,
    ],
  ])("%s is found without rendering", (_, files, code, line, column) => {
    const { open } = project(Object.fromEntries(Object.entries(files).map(([name, text]) => [`.coven/spells/${name}`, text])));
    expect(open().problems).toMatchObject([{ code, line, column, severity: "error" }]);
  });

  it("one file that includes thousands costs no more than a few", () => {
    const text = Array.from({ length: 20_000 }, (_, i) => `{{include "missing-${i}.md"}}`).join("");
    expect(project({ ".coven/spells/a.md": text }).open().problems).toHaveLength(100);
  });
});

describe("our own spells", () => {
  it("have no problems", () => {
    expect(project({}).open().problems).toEqual([]);
  });

  it("tell an agent its bead and how to end", () => {
    const text = show({}, "implement", { bead: { ...bead, design: "Use {{the}} form.", notes: "Try 1 failed." } });
    for (const part of ["app-1", "With a form.", "- it logs in", "web, auth", "Kind of task: feature", "Use {{the}} form.", "Try 1 failed."]) expect(text).toContain(part);
    const block = /```json\n([\s\S]*?)\n```/.exec(text)?.[1] ?? "";
    expect(JSON.parse(block)).toMatchObject({ success: true, summary: expect.any(String), outputs: { files_changed: ["path"] }, error: null });
  });

  it("work with a bead that has only a title", () => {
    const text = show({}, "implement", { bead: { title: "Only this" } });
    expect(text.startsWith("# Task: Only this\n")).toBe(true);
    expect(text).not.toMatch(/<no value>|undefined|null\b(?!,?\n\})(?!`)|\n\n\n/);
    expect(text).toContain("No criteria were given");
  });
});
