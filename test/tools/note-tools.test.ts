import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noteTools } from "../../src/app/notes.ts";
import { DEFAULT_SETTINGS } from "../../src/contract/settings-defaults.ts";
import type { AnyTool, ToolContext, ToolResult } from "../../src/contract/tool.ts";
import { findPaths } from "../../src/config/paths.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

type Called = { ok: boolean; output: string };

function tools(files: Record<string, string>): { workspace: string; call(name: string, input: unknown): Promise<Called>; list: AnyTool[] } {
  const base = temporaryFolder();
  const workspace = join(base, "project");
  writeFiles(workspace, { ".crucible/agents/.keep": "", ...files });
  const env = { HOME: base, XDG_CACHE_HOME: join(base, "cache") };
  const list = noteTools({ paths: findPaths(workspace, env), settings: DEFAULT_SETTINGS, env });
  const context: ToolContext = { workspace, callId: "c1", signal: new AbortController().signal, emit: () => {} };
  return {
    workspace,
    list,
    async call(name, input) {
      const tool = list.find((t) => t.name === name);
      const parsed = tool?.input.safeParse(input);
      if (tool === undefined || parsed === undefined) throw new Error(`no tool ${name}`);
      if (!parsed.success) return { ok: false, output: "invalid input" };
      const result = (await tool.run(parsed.data as never, context)) as ToolResult;
      if (!("output" in result)) throw new Error("suspended");
      return { ok: result.ok, output: result.output };
    },
  };
}

const NOTES = {
  "docs/ledger.md": "---\ntags: [money]\naliases: [books]\n---\n# The ledger\nline six\nline seven\n",
  "docs/deploy.md": "# Deploying\n\n## Rollback\nReturn to the previous image.\n",
  "readme.md": "# Read me\n",
};

describe("note tools", () => {
  it("[CRU-3.2.3] [CRU-5.3.3] read_note, list_notes and semantic_search need no more than what every agent has", () => {
    const { list } = tools({});
    expect(list.map((tool) => [tool.name, tool.needs, tool.changes])).toEqual([
      ["read_note", ["FilesystemRead"], false],
      ["list_notes", ["FilesystemRead"], false],
      ["semantic_search", ["SemanticSearch"], false],
    ]);
    for (const tool of list) expect(tool.description.length).toBeGreaterThan(80);
  });

  it("read_note reads by path, name, alias and link, whole or some lines", async () => {
    const { call } = tools(NOTES);
    expect(await call("read_note", { path: "docs/deploy.md" })).toEqual({ ok: true, output: NOTES["docs/deploy.md"] });
    for (const path of ["deploy", "[[Deploy]]", "docs/deploy"]) expect(await call("read_note", { path })).toEqual({ ok: true, output: NOTES["docs/deploy.md"] });
    expect(await call("read_note", { path: "books", lines: "6-6" })).toEqual({ ok: true, output: "line six\n" });
  });

  it("read_note says what to do when there is none, several, or nothing to be read", async () => {
    const { workspace, call } = tools({ ...NOTES, "other/deploy.md": "x" });
    const secret = temporaryFolder();
    writeFiles(secret, { "s.md": "secret" });
    symlinkSync(join(secret, "s.md"), join(workspace, "link.md"));
    expect(await call("read_note", { path: "leger" })).toEqual({ ok: false, output: "there is no note leger; did you mean docs/ledger.md?" });
    expect((await call("read_note", { path: "deploy" })).output).toContain("docs/deploy.md\nother/deploy.md");
    for (const path of ["../x.md", "/etc/passwd", "link.md", join(secret, "s.md"), "a\u0000b"]) {
      const { ok, output } = await call("read_note", { path });
      expect(ok).toBe(false);
      expect(output).not.toContain("secret");
    }
    expect((await call("read_note", { path: "readme.md", lines: "ten" })).ok).toBe(false);
    expect((await call("read_note", { path: "readme.md", lines: "9-2" })).ok).toBe(false);
  });

  it("list_notes gives paths, titles and tags, of all or of a folder", async () => {
    const { workspace, call } = tools(NOTES);
    expect((await call("list_notes", {})).output).toBe("docs/deploy.md: Deploying\ndocs/ledger.md: The ledger [money]\nreadme.md: Read me");
    const docs = "docs/deploy.md: Deploying\ndocs/ledger.md: The ledger [money]";
    for (const folder of ["docs", "./docs/", join(workspace, "docs")]) expect((await call("list_notes", { folder })).output).toBe(docs);
    expect(await call("list_notes", { folder: "nowhere" })).toMatchObject({ ok: true, output: expect.stringContaining("no notes in nowhere") as string });
    for (const folder of ["..", "/etc", "docs/../.."]) expect((await call("list_notes", { folder })).ok).toBe(false);
  });

  it("semantic_search finds by meaning, and sees a note that was written a moment ago", async () => {
    const { workspace, call } = tools(NOTES);
    expect((await call("semantic_search", { query: "go back to the earlier version" })).output.split("\n")[0]).toMatch(/^docs\/deploy\.md:3 \(0\.\d\d\) Rollback$/);
    writeFiles(workspace, { "fresh.md": "# Beekeeping\nHives need space.\n" });
    expect((await call("semantic_search", { query: "beekeeping", limit: 1 })).output).toMatch(/^fresh\.md:1 /);
    expect((await call("semantic_search", { query: "qzxqzx" })).output).toContain("no note is about this");
    expect((await call("semantic_search", { query: "" })).ok).toBe(false);
    expect((await call("semantic_search", { query: "x", limit: 0 })).ok).toBe(false);
  });
});
