import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { machine, repository } from "../support/cru.ts";

const files = {
  ".coven/spells/hello.md": "Hello {{.name}}, {{range $i, $x := .list}}{{$i}}={{$x}} {{end}}{{.bead.title}}\n",
  ".coven/spells/plain.md": "no values, \u001b[31mred\u001b[0m\n",
  ".coven/spells/broken.md": "ok\n{{ if .x }}never closed\n",
  ".coven/prompts/old.md": '{{include "part.md" who="you"}}',
  ".coven/spells/part.md": "for {{.who}}",
};

describe("cru spells list", () => {
  it("shows name, source and path, the project's over ours, and what is broken", async () => {
    const { cru, project } = machine({ project: { ...files, ".coven/spells/implement.md": "mine" } });
    const listed = await cru(["spells", "list", "--json"]);
    expect(listed.code).toBe(0);
    const { spells, problems } = JSON.parse(listed.stdout);
    expect(spells.map((s: { name: string; source: string; trusted: boolean }) => [s.name, s.source, s.trusted])).toEqual([
      ["broken", "project", false], ["hello", "project", false], ["implement", "project", false], ["old", "project", false], ["output-contract", "builtin", true],
      ["part", "project", false], ["plain", "project", false],
    ]);
    expect(spells[2].path).toBe(join(project, ".coven/spells/implement.md"));
    expect(problems).toMatchObject([{ path: ".coven/spells/broken.md", line: 2, column: 4, code: "template.syntax", severity: "error" }]);
  });

  it("is plain when piped, with problems on stderr", async () => {
    const { stdout, stderr, code } = await machine({ project: files }).cru(["spells", "list"]);
    expect(code).toBe(0);
    expect(stdout).toContain("hello\tproject\t.coven/spells/hello.md\tuntrusted\n");
    expect(stdout).toContain("implement\tbuiltin\t");
    expect(stderr).toContain('.coven/spells/broken.md:2:4: "if" is never closed');
  });
});

describe("cru spells show", () => {
  it("prints the source, byte for byte when piped", async () => {
    const { cru } = machine({ project: files });
    expect(await cru(["spells", "show", "hello"])).toEqual({ code: 0, stdout: files[".coven/spells/hello.md"], stderr: "" });
    expect((await cru(["spells", "show", "plain"])).stdout).toBe(files[".coven/spells/plain.md"]);
    expect((await cru(["spells", "show", "implement"])).stdout).toBe(readFileSync(join(repository, "builtin/spells/implement.md"), "utf8"));
  });

  it("prints JSON", async () => {
    const { spell } = JSON.parse((await machine({ project: files }).cru(["spells", "show", "part", "--json"])).stdout);
    expect(spell).toMatchObject({ name: "part", source: "project", text: "for {{.who}}", problems: [], hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  it("exits 2 for a spell that is not there, with the nearest name", async () => {
    const { code, stdout, stderr } = await machine({ project: files }).cru(["spells", "show", "helo"]);
    expect([code, stdout, stderr]).toEqual([2, "", "cru: spell not found: helo\n  → did you mean 'hello'?\n"]);
  });
});

describe("cru spells render", () => {
  it("fills in values: text, typed, nested, from a file", async () => {
    const { cru } = machine({ project: { ...files, "data.json": '{"name":"file","list":["f"],"bead":{"title":"from the file","id":"x"}}' } });
    const flags = ["--var", "name=a=b", "--var", 'list:=["x",2,true]', "--var", "bead.title={{.name}} ${x}"];
    expect(await cru(["spells", "render", ...flags, "hello"])).toEqual({ code: 0, stdout: "Hello a=b, 0=x 1=2 2=true {{.name}} ${x}\n", stderr: "" });
    expect((await cru(["spells", "render", "hello", "--var-file", "data.json", "--var", "bead.title=flag"])).stdout).toBe("Hello file, 0=f flag\n");
    expect((await cru(["spells", "render", "hello", "--var-file", "data.json"])).stdout).toBe("Hello file, 0=f from the file\n");
  });

  it("renders partials and prompts, without any trust, and runs nothing", async () => {
    const { cru, project } = machine({ project: { ...files, ".coven/spells/evil.md": "$(touch owned) `touch owned` {{.v}}" } });
    expect((await cru(["spells", "render", "old"])).stdout).toBe("for you");
    expect((await cru(["spells", "render", "evil", "--var", "v=$(touch owned)"])).stdout).toBe("$(touch owned) `touch owned` $(touch owned)");
    expect(existsSync(join(project, "owned"))).toBe(false);
  });

  it("takes a template of more than one line as it is", async () => {
    expect((await machine({ project: files }).cru(["spells", "render", "a\n{{.x}}", "--var", "x=1"])).stdout).toBe("a\n1");
  });

  it("prints JSON", async () => {
    const { stdout } = await machine({ project: files }).cru(["spells", "render", "part", "--var", "who=me", "--json"]);
    expect(JSON.parse(stdout)).toEqual({ spell: "part", text: "for me" });
  });

  it.each([
    ["a syntax error", ["broken"], 3, '.coven/spells/broken.md:2:4: "if" is never closed'],
    ["a name that is not given", ["hello", "--var", "nam=x"], 3, '.coven/spells/hello.md:1:9: unknown name ".name"\n  → did you mean \'nam\'?'],
    ["no values at all", ["hello"], 3, "--var-file data.json"],
    ["an unknown spell", ["hell"], 2, "did you mean 'hello'?"],
    ["a name that leads out", ["../../secret"], 2, "not a name of a spell"],
    ["a value without a name", ["hello", "--var", "=x"], 2, "expected a name"],
    ["no value", ["hello", "--var", "name"], 2, "expected name=value"],
    ["JSON that is none", ["hello", "--var", "list:=[1"], 2, "--var list: not valid JSON"],
    ["a text that would need fields", ["hello", "--var", "bead=x", "--var", "bead.title=y"], 2, "'bead' already has a value"],
    ["a file that is not there", ["hello", "--var-file", "gone.json"], 2, "cannot read gone.json"],
    ["a file that is no object", ["hello", "--var-file", ".coven/list.json"], 2, "must hold one JSON object"],
  ])("refuses %s", async (_, args, exit, message) => {
    const { cru } = machine({ project: { ...files, ".coven/list.json": "[1]" } });
    const { code, stdout, stderr } = await cru(["spells", "render", ...args]);
    expect(stderr).toContain(message);
    expect([code, stdout]).toEqual([exit, ""]);
  });

  it("treats __proto__ as a name like any other", async () => {
    const { cru } = machine({ project: { ".coven/spells/p.md": "{{.__proto__.x}} {{.a.__proto__}} [{{.a.x}}]" } });
    expect((await cru(["spells", "render", "p", "--var", "__proto__.x=1", "--var", "a.__proto__=2"])).stdout).toBe("1 2 []");
  });
});
