import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type DefinitionPlan, loadDefinitions, type Parse } from "../../src/catalog/load-definitions.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

/** First line is the name ("-" takes the file's), the rest the value. */
const parse: Parse<{ text: string }> = (text) => {
  const [name = "", ...rest] = text.split("\n");
  return { name: name === "-" ? undefined : name, value: { text: rest.join("\n") }, faults: [] };
};

function world(files: Record<string, string>) {
  const base = temporaryFolder();
  for (const folder of ["builtin", "system", "project/spells"]) mkdirSync(join(base, folder), { recursive: true });
  writeFiles(base, files);
  let parsed = 0;
  const plan: DefinitionPlan<{ text: string }> = {
    kind: "spells",
    extensions: [".md"],
    sources: [
      { folder: join(base, "builtin"), source: "builtin", dialect: "" },
      { folder: join(base, "system"), source: "system", dialect: "" },
      { folder: join(base, "project/spells"), source: "project", dialect: "", within: join(base, "project") },
    ],
    parser: async () => (text, dialect) => (parsed++, parse(text, dialect)),
    fingerprint: "test",
  };
  const load = () => loadDefinitions(plan, { indexFile: join(base, "cache/index.json"), show: (path) => path.slice(base.length + 1) });
  return { base, load, parsedCount: () => parsed };
}

describe("loadDefinitions", () => {
  it("takes one entry per name, the last source wins, sorted by name", async () => {
    const { load } = world({ "builtin/a.md": "b\nbuiltin", "builtin/c.md": "c\nbuiltin", "project/spells/z.md": "b\nproject", "system/a.md": "a\nsystem" });
    const { items, problems } = await load();
    expect(items.map((e) => [e.name, e.source, e.value.text])).toEqual([["a", "system", "system"], ["b", "project", "project"], ["c", "builtin", "builtin"]]);
    expect(problems).toEqual([]);
  });

  it("names a definition after its file when the parser gives no name, and refuses a file name that is no name", async () => {
    const { load } = world({ "project/spells/fix-tests.md": "-\nx", "project/spells/CON.md": "-\nx", "project/spells/-x.md": "-\nx" });
    const { items, problems } = await load();
    expect(items.map((e) => e.name)).toEqual(["fix-tests"]);
    expect(problems.map((p) => [p.path, p.code])).toEqual([["project/spells/-x.md", "name.invalid"], ["project/spells/CON.md", "name.invalid"]]);
  });

  it("parses a content once and knows it again after a restart, a move and a copy", async () => {
    const { base, load, parsedCount } = world({ "system/a.md": "a\n1" });
    await load();
    await load();
    expect(parsedCount()).toBe(1);
    rmSync(join(base, "system/a.md"));
    writeFiles(base, { "project/spells/b.md": "a\n1" });
    expect((await load()).items.map((e) => e.path)).toEqual([join(base, "project/spells/b.md")]);
    expect(parsedCount()).toBe(1);
  });

  it("refuses a project folder that is a symlink out of the project", async () => {
    const { base, load } = world({ "outside/x.md": "x\n1" });
    rmSync(join(base, "project/spells"), { recursive: true });
    symlinkSync(join(base, "outside"), join(base, "project/spells"));
    const { items, problems } = await load();
    expect(items).toEqual([]);
    expect(problems).toMatchObject([{ path: "project/spells", code: "file.outside", line: 1 }]);
  });
});
