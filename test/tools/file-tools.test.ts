import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { editFileTool } from "../../src/tools/edit-file.ts";
import { listFilesTool } from "../../src/tools/list-files.ts";
import { readFileTool } from "../../src/tools/read-file.ts";
import { searchFilesTool } from "../../src/tools/search-files.ts";
import { writeFileTool } from "../../src/tools/write-file.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";
import { call, toolContext } from "../support/tool-context.ts";

function place(files: Record<string, string | Uint8Array>) {
  const workspace = temporaryFolder();
  writeFiles(workspace, files);
  const context = toolContext(workspace);
  return {
    workspace,
    context,
    read: (input: unknown) => call(readFileTool(), input, context),
    list: (pattern: string) => call(listFilesTool(), { pattern }, context),
    search: (input: unknown) => call(searchFilesTool(), input, context),
    write: (input: unknown) => call(writeFileTool(), input, context),
    edit: (input: unknown) => call(editFileTool(), input, context),
  };
}

describe("read_file", () => {
  it("gives the text as it is", async () => {
    const { read } = place({ "a.txt": "ä\n\tb\n", empty: "" });
    expect(await read({ path: "a.txt" })).toEqual({ ok: true, output: "ä\n\tb\n" });
    expect(await read({ path: "empty" })).toEqual({ ok: true, output: "" });
  });

  it("gives the lines that were asked for", async () => {
    const { read } = place({ "a.txt": "1\n2\n3\n4" });
    const outputs = await Promise.all(["2-3", "3-", "4", "2-99", "1-1"].map(async (lines) => (await read({ path: "a.txt", lines })).output));
    expect(outputs).toEqual(["2\n3\n", "3\n4", "4", "2\n3\n4", "1\n"]);
    expect(await read({ path: "a.txt", lines: "9" })).toMatchObject({ ok: false, output: "a.txt has no line 9; it ends before" });
    expect((await read({ path: "a.txt", lines: "3-2" })).ok).toBe(false);
    expect((await read({ path: "a.txt", lines: "x" })).output).toContain('expected lines such as "10-40"');
  });

  it("cuts a long file at a line and says how to read on, until its end", async () => {
    const all = Array.from({ length: 30_000 }, (_, i) => `line ${i + 1}\n`).join("");
    const { read } = place({ "long.txt": all });
    let text = "";
    for (let lines: string | undefined = "1-"; lines !== undefined; ) {
      const { output } = await read({ path: "long.txt", lines });
      const note = /\n\[lines \d+-\d+ of a file of \d+ bytes; read on with lines: "(\d+-)"\]$/.exec(output);
      text += note === null ? output : output.slice(0, note.index + 1);
      lines = note?.[1];
    }
    expect(text).toBe(all);
  });

  it("R12: does not choke on one line of 100 MB", async () => {
    const { read } = place({ "line.txt": Buffer.alloc(100 * 2 ** 20, "x") });
    const { ok, output } = await read({ path: "line.txt" });
    expect(ok).toBe(true);
    expect(output.length).toBeLessThan(61_000);
    expect(output).toContain("was cut");
  });

  it("says what is wrong and what to do", async () => {
    const { read, workspace } = place({ "src/main.ts": "x", "bin": new Uint8Array([1, 0, 2]) });
    symlinkSync("/etc/passwd", join(workspace, "link"));
    expect((await read({ path: "src/mian.ts" })).output).toBe("src/mian.ts does not exist; did you mean src/main.ts?");
    expect((await read({ path: "src" })).output).toBe("src is a folder; use list_files to see what is in a folder");
    expect((await read({ path: "../x" })).output).toContain("leads out of the workspace; give a path inside");
    expect(await read({ path: "link" })).toMatchObject({ ok: false });
    expect((await read({ path: "bin" })).output).toBe("bin is not a text file (3 bytes)");
  });
});

describe("list_files", () => {
  it("lists by pattern without what git ignores", async () => {
    const { list } = place({ ".gitignore": "dist/\n", "a.ts": "", "src/b.ts": "", "src/c.js": "", "dist/d.ts": "", "node_modules/e.ts": "", ".git/x.ts": "" });
    expect(await list("**/*.ts")).toEqual({ ok: true, output: "a.ts\nsrc/b.ts" });
    expect(await list("src/")).toEqual({ ok: true, output: "src/b.ts\nsrc/c.js" });
    expect((await list("b.ts")).output).toBe("no file matches b.ts; **/b.ts looks in every folder");
    expect((await list("../*")).ok).toBe(false);
    expect((await list("/etc/*")).ok).toBe(false);
  });

  it("is bounded", async () => {
    const { list } = place(Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`f${i}`, ""])));
    const { output } = await list("*");
    expect(output.split("\n")).toHaveLength(1001);
    expect(output).toContain("there are more");
  });
});

describe("search_files", () => {
  it("finds lines, in a folder, a file or a pattern", async () => {
    const { search } = place({ "a.ts": "one\nconst Foo = 1;\n", "src/b.ts": "foo\r\nfoo()\n", "src/c.md": "foo", bin: new Uint8Array([102, 111, 111, 0]) });
    expect(await search({ pattern: "foo" })).toEqual({ ok: true, output: "src/b.ts:1:foo\nsrc/b.ts:2:foo()\nsrc/c.md:1:foo" });
    expect((await search({ pattern: "(?i)foo", path: "a.ts" })).output).toBe("a.ts:2:const Foo = 1;");
    expect((await search({ pattern: String.raw`foo\(`, path: "src" })).output).toBe("src/b.ts:2:foo()");
    expect((await search({ pattern: "foo", path: "**/*.md" })).output).toBe("src/c.md:1:foo");
    expect((await search({ pattern: "nothing here" })).output).toBe("no hit");
  });

  it("says what is wrong with pattern or path", async () => {
    const { search } = place({ "a.ts": "x" });
    expect((await search({ pattern: "foo(" })).output).toMatch(/not a regular expression.*Escape/);
    expect((await search({ pattern: "x", path: "b.ts" })).output).toBe("b.ts does not exist; did you mean a.ts?");
    expect((await search({ pattern: "x", path: "/etc" })).ok).toBe(false);
  });

  it("stops a pattern that would search for ever, and the program goes on", async () => {
    const { context } = place({ "a.txt": `${"a".repeat(5000)}!\n` });
    const ticks: number[] = [];
    const timer = setInterval(() => ticks.push(1), 10);
    const result = await call(searchFilesTool({ timeMs: 400 }), { pattern: "^(a+)+$" }, context);
    clearInterval(timer);
    expect(result).toMatchObject({ ok: false });
    expect(result.output).toContain("took longer");
    expect(ticks.length).toBeGreaterThan(5);
  });

  it("cuts long lines and many hits", async () => {
    const { search } = place({ "a.txt": `${"x".repeat(5000)}needle${"y".repeat(5000)}\n`, "b.txt": "z\n".repeat(5000) });
    const { output } = await search({ pattern: "needle" });
    expect(output).toContain("needle");
    expect(output.length).toBeLessThan(400);
    const many = (await search({ pattern: "z" })).output.split("\n");
    expect(many).toHaveLength(201);
    expect(many.at(-1)).toContain("more than 200 hits");
  });
});

describe("write_file", () => {
  it("creates, replaces and keeps the mode", async () => {
    const { write, workspace } = place({ "run.sh": "old" });
    chmodSync(join(workspace, "run.sh"), 0o755);
    expect(await write({ path: "run.sh", content: "new" })).toMatchObject({ ok: true, output: "replaced run.sh (3 bytes)", diff: expect.stringContaining("-old\n") });
    expect(await write({ path: "x/y.txt", content: "ä" })).toMatchObject({ ok: true, output: "created x/y.txt (2 bytes)" });
    expect(statSync(join(workspace, "run.sh")).mode & 0o777).toBe(0o755);
  });

  it("S3: never writes through a link out of the workspace", async () => {
    const { write, workspace } = place({});
    const outside = temporaryFolder();
    writeFileSync(join(outside, "victim"), "safe");
    symlinkSync(outside, join(workspace, "out"));
    symlinkSync(join(outside, "victim"), join(workspace, "victim"));
    const results = await Promise.all(["out/victim", "victim", "out/new", join(outside, "victim"), "../new"].map((path) => write({ path, content: "bad" })));
    expect(results.map((r) => r.ok)).toEqual([false, false, false, false, false]);
    expect([readdirSync(outside), readFileSync(join(outside, "victim"), "utf8")]).toEqual([["victim"], "safe"]);
  });

  it("does not reach a protected path through a link; named as it is, the gate has asked", async () => {
    const { write, edit, workspace } = place({ ".git/config": "old", "claude/s": "old" });
    symlinkSync(".git", join(workspace, "g"));
    symlinkSync("claude", join(workspace, ".claude"));
    const results = await Promise.all(["g/config", "g/hooks/new", "claude/s"].map((path) => write({ path, content: "bad" })));
    results.push(await edit({ path: "g/config", old: "old", new: "bad" }));
    expect(results.map((r) => r.output.replace(/^\S+ /, ""))).toEqual(Array.from({ length: 4 }, () => "leads through a link into a protected path; name the protected path itself"));
    expect(readdirSync(join(workspace, ".git"))).toEqual(["config"]);
    expect((await write({ path: ".claude/s", content: "agreed" })).ok).toBe(true);
    expect((await write({ path: ".git/config", content: "agreed" })).ok).toBe(true);
  });

  it("previews as a diff", async () => {
    const { context } = place({ "a.txt": "one\ntwo\n" });
    const preview = await writeFileTool().preview?.({ path: "a.txt", content: "one\nthree\n" }, context);
    expect(preview).toMatchObject({ title: "write a.txt", reversible: true });
    expect(preview?.body).toContain("-two\n+three");
  });
});

describe("edit_file", () => {
  it("replaces what stands there exactly once", async () => {
    const { edit, workspace } = place({ "a.ts": "const a = 1;\nconst b = 2;\n" });
    expect(await edit({ path: "a.ts", old: "b = 2", new: "c = 3 // $& $1" })).toEqual({
      ok: true, output: "edited a.ts at line 2", diff: "--- a.ts\n+++ a.ts\n@@ -1,2 +1,2 @@\n const a = 1;\n-const b = 2;\n+const c = 3 // $& $1;\n",
    });
    expect(readFileSync(join(workspace, "a.ts"), "utf8")).toBe("const a = 1;\nconst c = 3 // $& $1;\n");
  });

  it("explains why it did not edit", async () => {
    const { edit } = place({ "a.ts": "x\n  y\nx\n" });
    expect((await edit({ path: "a.ts", old: "x", new: "z" })).output).toMatch(/more than once in a.ts \(lines 1 and 3/);
    expect((await edit({ path: "a.ts", old: "\ty", new: "z" })).output).toMatch(/Line 2 is the same but for its spaces/);
    expect((await edit({ path: "a.ts", old: "q", new: "z" })).output).toMatch(/Read the file again/);
    expect((await edit({ path: "a.ts", old: "  y", new: "  y" })).output).toMatch(/the same/);
    expect((await edit({ path: "a.ts", old: "", new: "z" })).ok).toBe(false);
    expect((await edit({ path: "b.ts", old: "x", new: "z" })).output).toContain("did you mean a.ts?");
  });

  it("keeps Windows line ends and bytes that are not UTF-8", async () => {
    const { edit, workspace } = place({ "w.txt": Buffer.concat([Buffer.from([0xff]), Buffer.from("a\r\nb\r\nc\r\n")]) });
    expect((await edit({ path: "w.txt", old: "a\nb", new: "x\ny" })).ok).toBe(true);
    expect(readFileSync(join(workspace, "w.txt"))).toEqual(Buffer.concat([Buffer.from([0xff]), Buffer.from("x\r\ny\r\nc\r\n")]));
  });

  it("previews as a diff", async () => {
    const { context } = place({ "a.txt": "one\ntwo\n" });
    expect((await editFileTool().preview?.({ path: "a.txt", old: "two", new: "2" }, context))?.body).toContain("-two\n+2");
  });
});
