import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { problemText } from "../../src/contract/problem.ts";
import { agentFile, agentWorld } from "../support/agents.ts";

const head = "name: x\ndescription: d\npermissions: []\n";
const file = (frontmatter: string, body = "Do it."): string => `---\n${frontmatter}---\n${body}\n`;
const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${[..."bcdefghi"].map((c, i) => `${c}: &${c} [${Array(9).fill(`*${"abcdefghi"[i]}`).join(",")}]\n`).join("")}`;

type Row = [what: string, content: string | Uint8Array, code: string, line: number, column: number, field: string, hint: RegExp];

const ROWS: Row[] = [
  ["no frontmatter", "Just text\n", "frontmatter.missing", 1, 1, "", /start the file with/],
  ["an empty file", "", "frontmatter.missing", 1, 1, "", /start the file with/],
  ["a frontmatter without end", "---\nname: x\n\nText\n", "frontmatter.unclosed", 1, 1, "", /close it/],
  ["an empty frontmatter", "---\n---\nText\n", "frontmatter.empty", 2, 1, "", /write name/],
  ["a frontmatter of comments", "---\n# nothing\n---\nText\n", "frontmatter.empty", 2, 1, "", /write name/],
  ["a list instead of keys", file("- a\n- b\n"), "frontmatter.not_a_mapping", 2, 1, "", /one per line/],
  ["plain text instead of keys", file("hello\n"), "frontmatter.not_a_mapping", 2, 1, "", /one per line/],
  ["a colon in a value", file("name: x\ndescription: use this: now\npermissions: []\n"), "yaml.syntax", 3, 22, "", /quote values/],
  ["a tab", file("name: x\npermissions:\n\t- Shell\n"), "yaml.syntax", 4, 1, "", /indent with spaces/],
  ["a duplicate key", file(`${head}name: y\n`), "yaml.duplicate_key", 5, 1, "name", /3 lines above/],
  ["a duplicate key in a row", file("name: x\nname: x\n"), "yaml.duplicate_key", 3, 1, "name", /1 line above/],
  ["an alias bomb", file(bomb), "yaml.alias", 3, 8, "", /write the value out/],
  ["an alias", file(`a: &p [Shell]\n${head.replace("[]", "*p")}`), "yaml.alias", 5, 14, "", /write the value out/],
  ["a merge bomb", file(`a: {x: 1}\nb:\n  <<: {y: 1}\n`), "yaml.merge_key", 4, 3, "", /write the keys out/],
  ["a merge key", file(`${head}<<: {enabled: true}\n`), "yaml.merge_key", 5, 1, "", /write the keys out/],
  ["20,000 levels", file(`a: ${"[".repeat(20_000)}\n`), "yaml.too_deep", 2, 35, "", /flatten/],
  ["20,000 levels of dashes", file(`${"- ".repeat(20_000)}\n`), "yaml.too_deep", 2, 65, "", /flatten/],
  ["too many values", file(`a: [${"1,".repeat(10_001)}]\n`), "yaml.too_many_nodes", 2, 19_999, "", /shorten/],
  ["10 MB of frontmatter", file(`${head}x: ${"y".repeat(10_000_000)}\n`), "file.too_large", 1, 1, "", /1 MiB/],
  ["100 kB of frontmatter", file(`${head}x: ${"y".repeat(100_000)}\n`), "file.too_large", 2, 1, "", /body/],
  ["__proto__", file(`${head}__proto__: {enabled: false}\n`), "yaml.unsafe_key", 5, 1, "__proto__", /remove/],
  ["constructor", file(`${head}constructor: {}\n`), "yaml.unsafe_key", 5, 1, "constructor", /remove/],
  ["a tag", file(head.replace("[]", "!!set {Shell}")), "yaml.tag", 4, 14, "", /remove the tag/],
  ["two documents", file("name: x\n...\nname: y\n"), "yaml.several_documents", 4, 1, "", /keep one/],
  ["a NUL byte", Buffer.from(file(`${head}`, "a\u0000b")), "file.nul", 6, 2, "", /UTF-8/],
  ["invalid UTF-8", Buffer.concat([Buffer.from("---\nname: "), Buffer.from([0xff, 0xfe]), Buffer.from("\n---\nx\n")]), "file.not_utf8", 2, 7, "", /UTF-8/],
  ["UTF-16", Buffer.from(file(head), "utf16le"), "file.nul", 1, 2, "", /UTF-8/],
  ["no name", file("description: d\npermissions: []\n"), "field.missing", 2, 1, "name", /such as code-reviewer/],
  ["no description", file("name: x\npermissions: []\n"), "field.missing", 2, 1, "description", /when to use/],
  ["no permissions", file("name: x\ndescription: d\n"), "field.missing", 2, 1, "permissions", /write a list such as/],
  ["an unknown key", file(`${head}enable_reflexion: true\n`), "field.unknown", 5, 1, "enable_reflexion", /did you mean 'enable_reflection'/],
  ["a key of another program", file(`${head}tools: Read\n`), "field.unknown", 5, 1, "tools", /one of: .*permissions/],
  ["a word for a list", file(head.replace("[]", "Shell")), "field.type", 4, 14, "permissions", /list such as/],
  ["a word for true or false", file(`${head}enabled: maybe\n`), "field.type", 5, 10, "enabled", /true or false/],
  ["a number for text", file(head.replace("description: d", "description: 42")), "field.type", 3, 14, "description", /when to use/],
  ["an empty description", file(head.replace("description: d", "description: ' '")), "field.value", 3, 14, "description", /when to use/],
  ["too many retries", file(`${head}max_retries: 99\n`), "field.value", 5, 14, "max_retries", /from 0 to 10/],
  ["a negative timeout", file(`${head}approval_timeout: -1\n`), "field.value", 5, 19, "approval_timeout", /seconds/],
  ["an unknown permission", file(head.replace("[]", "[WriteDatabase]")), "permission.unknown", 4, 15, "permissions", /did you mean 'DatabaseWrite'/],
  ["an unknown permission in a block", file(head.replace("[]", "\n  - Shell\n  - filesystem_read")), "permission.unknown", 6, 5, "permissions", /did you mean 'FilesystemRead'/],
  ["an unknown model", file(`${head}model: sonet\n`), "model.unknown", 5, 8, "model", /did you mean 'sonnet'/],
  ["an unknown tool to approve", file(`${head}requires_approval: [Shell, run_comand]\n`), "tool.unknown", 5, 28, "requires_approval", /did you mean 'run_command'/],
  ["no prompt", file(head, "  \n"), "prompt.empty", 6, 1, "", /say what/],
  ["a permission twice", file(head.replace("[]", "[Shell, Shell]")), "field.duplicate", 4, 22, "permissions", /remove one/],
  ...(["../x", "a/b", "-x", ".x", "a..b", "x.lock", "Ünïcode"] as const).map((name): Row => [`the name ${name}`, file(head.replace("name: x", `name: ${JSON.stringify(name)}`)), "name.invalid", 2, 7, "name", /lower-case letters/]),
  ["a name of 300 characters", file(head.replace("name: x", `name: ${"n".repeat(300)}`)), "name.invalid", 2, 7, "name", /at most 64/],
  ["a name with NUL", file(head.replace("name: x", 'name: "a\\0b"')), "name.invalid", 2, 7, "name", /did you mean 'a-b'/],
  ["a name with a zero-width space", file(head.replace("name: x", 'name: "re\\u200bview"')), "name.invalid", 2, 7, "name", /did you mean 're-view'/],
  ["a name with spaces", file(head.replace("name: x", "name: Code Reviewer")), "name.invalid", 2, 7, "name", /did you mean 'code-reviewer'/],
  ["the name con", file(head.replace("name: x", "name: con")), "name.reserved", 2, 7, "name", /con-agent/],
  ["the name CON", file(head.replace("name: x", "name: CON")), "name.invalid", 2, 7, "name", /lower-case/],
  ["the name user", file(head.replace("name: x", "name: user")), "name.reserved", 2, 7, "name", /user-agent/],
];

describe("malformed agents", () => {
  it.each(ROWS)("[CRU-1.3.1] [CRU-1.3.2] reports %s", async (_, content, code, line, column, field, hint) => {
    const { load } = agentWorld({ project: { ".crucible/agents/bad.md": content } });
    const { problems } = await load();
    expect(problems[0]).toMatchObject({ path: ".crucible/agents/bad.md", code, line, column, field, hint: expect.stringMatching(hint) });
    expect(problems.map(problemText).join("\n")).not.toMatch(/\n\s+at |undefined|\[object/);
  });

  it.each(ROWS.filter(([, , code]) => code !== "field.duplicate"))("[CRU-1.3.3] does not register %s, and loads the rest", async (_, content) => {
    const { load } = agentWorld({ project: { ".crucible/agents/bad.md": content, ".crucible/agents/good.md": agentFile("good") } });
    const { items } = await load();
    expect(items.filter((e) => e.source === "project").map((e) => e.name)).toEqual(["good"]);
  });

  it("reads at least 20 kinds of fault", () => {
    expect(new Set(ROWS.map(([, , code]) => code)).size).toBeGreaterThanOrEqual(20);
  });

  it("reports every fault of a file, in the order of its lines", async () => {
    const { load } = agentWorld({ project: { ".crucible/agents/bad.md": file("nam: x\nmodel: opsu\npermissions: [Shel, WriteDatabase]\nenabled: 3\n", "") } });
    expect((await load()).problems.map((p) => [p.line, p.field, p.code])).toEqual([
      [2, "name", "field.missing"], [2, "description", "field.missing"], [2, "nam", "field.unknown"], [3, "model", "model.unknown"],
      [4, "permissions", "permission.unknown"], [4, "permissions", "permission.unknown"], [5, "enabled", "field.type"], [7, "", "prompt.empty"],
    ]);
  });

  it.each([
    ["a byte order mark", `\uFEFF${agentFile("x")}`],
    ["Windows line ends", agentFile("x").replaceAll("\n", "\r\n")],
    ["old Mac line ends", agentFile("x").replaceAll("\n", "\r")],
    ["both", `\uFEFF${agentFile("x").replaceAll("\n", "\r\n")}`],
  ])("accepts %s", async (_, content) => {
    const { load } = agentWorld({ project: { ".crucible/agents/x.md": content } });
    expect(await load()).toMatchObject({ problems: [], items: expect.arrayContaining([expect.objectContaining({ name: "x" })]) });
  });

  it("counts lines as an editor does when they end as on Windows", async () => {
    const { load } = agentWorld({ project: { ".crucible/agents/x.md": agentFile("x", { model: "sonet" }).replaceAll("\n", "\r\n") } });
    expect((await load()).problems).toMatchObject([{ line: 5, column: 8, code: "model.unknown" }]);
  });

  it("of files whose names differ only in case keeps the first and reports the second", async () => {
    const { load } = agentWorld({ project: { ".crucible/agents/Foo.md": agentFile("one"), ".crucible/agents/foo.md": agentFile("two") } });
    const { items, problems } = await load();
    expect(items.filter((e) => e.source === "project").map((e) => e.name)).toEqual(["one"]);
    expect(problems).toMatchObject([{ path: ".crucible/agents/foo.md", code: "name.twin", line: 1, hint: "rename one of the files", message: expect.stringContaining("Foo.md") }]);
  });

  it("of two files with one name keeps the first and reports the second", async () => {
    const { load } = agentWorld({ project: { ".crucible/agents/a.md": agentFile("same"), ".crucible/agents/b.md": agentFile("same") } });
    const { items, problems } = await load();
    expect(items.find((e) => e.name === "same")?.path).toMatch(/a\.md$/);
    expect(problems).toMatchObject([{ path: ".crucible/agents/b.md", code: "name.twin", field: "name", line: 1, hint: "rename one of the two" }]);
  });

  it.each([
    ["a file outside", "../../../secret.md", "file.outside", /copy the file/],
    ["an absolute path outside", "/etc/passwd", "file.outside", /copy the file/],
    ["a file in the project but outside the folder", "../../secret.md", "file.outside", /copy the file/],
    ["nothing", "nowhere.md", "file.unreadable", /check that it exists/],
    ["itself", "link.md", "file.unreadable", /check that it exists/],
  ])("refuses a symlink to %s", async (_, target, code, hint) => {
    const { base, project, load } = agentWorld();
    writeFileSync(join(base, "secret.md"), agentFile("secret"));
    writeFileSync(join(project, "secret.md"), agentFile("secret"));
    symlinkSync(target, join(project, ".crucible/agents/link.md"));
    const { items, problems } = await load();
    expect(items.some((e) => e.name === "secret")).toBe(false);
    expect(problems).toMatchObject([{ path: ".crucible/agents/link.md", code, line: 1, hint: expect.stringMatching(hint) }]);
  });

  it("follows a symlink that stays in its folder", async () => {
    const { project, load } = agentWorld({ project: { ".crucible/agents/deep/real.txt": agentFile("linked") } });
    symlinkSync("deep/real.txt", join(project, ".crucible/agents/linked.md"));
    expect(await load()).toMatchObject({ problems: [], items: expect.arrayContaining([expect.objectContaining({ name: "linked" })]) });
  });

  it.each([".crucible/agents", ".claude/agents"])("refuses %s when it is a symlink out of the project", async (folder) => {
    const { base, project, load } = agentWorld();
    mkdirSync(join(base, "elsewhere"));
    writeFileSync(join(base, "elsewhere/x.md"), agentFile("stranger"));
    mkdirSync(join(project, ".claude"));
    execFileSync("rm", ["-rf", join(project, folder)]);
    symlinkSync(join(base, "elsewhere"), join(project, folder));
    const { items, problems } = await load();
    expect(items.some((e) => e.name === "stranger")).toBe(false);
    expect(problems).toMatchObject([{ path: folder, code: "file.outside", line: 1, hint: expect.stringMatching(/copy the files/) }]);
  });

  it("refuses a FIFO and a folder without waiting for them", async () => {
    const { project, load } = agentWorld();
    execFileSync("mkfifo", [join(project, ".crucible/agents/pipe.md")]);
    mkdirSync(join(project, ".crucible/agents/folder.md"));
    expect((await load()).problems).toMatchObject([
      { path: ".crucible/agents/folder.md", code: "file.not_a_file", line: 1, hint: "move it elsewhere" },
      { path: ".crucible/agents/pipe.md", code: "file.not_a_file", line: 1, hint: "move it elsewhere" },
    ]);
  });
});
