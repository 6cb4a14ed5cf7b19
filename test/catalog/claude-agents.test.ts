import { describe, expect, it } from "vitest";
import type { Agent } from "../../src/contract/agent.ts";
import type { Problem } from "../../src/contract/problem.ts";
import { agentFile, agentWorld } from "../support/agents.ts";

async function one(content: string | Uint8Array): Promise<{ agent: Agent | undefined; codes: string[]; problems: Problem[] }> {
  const { load } = agentWorld({ project: { ".claude/agents/x.md": content } });
  const { items, problems } = await load();
  return { agent: items.find((e) => e.source === "claude")?.value, codes: problems.map((p) => p.code), problems };
}

const claude = (lines: string, body = "You are an expert."): string => `---\nname: x\ndescription: d\n${lines}---\n\n${body}\n`;

describe("agents written for Claude Code", () => {
  it.each([
    ["no tools", "", "inherit", []],
    ["an empty tools line", "tools:\n", "inherit", []],
    ["an empty text", "tools: ''\n", [], []],
    ["an empty list", "tools: []\n", [], []],
    ["all by a star", "tools: '*'\n", "inherit", []],
    ["all by words", "tools: All tools\n", "inherit", []],
    ["a comma list", "tools: Read, Grep, Glob\n", ["FilesystemRead"], []],
    ["a comma list without spaces", "tools: Read,Edit,Bash\n", ["FilesystemRead", "FilesystemWrite", "Shell"], []],
    ["a list", "tools: [Read, WebFetch]\n", ["FilesystemRead", "NetworkAccess"], []],
    ["a block list", "tools:\n  - LS\n  - MultiEdit\n  - NotebookRead\n", ["FilesystemRead", "FilesystemWrite"], []],
    ["words with spaces between", "tools: Read Write Bash\n", ["FilesystemRead", "FilesystemWrite", "Shell"], []],
    ["quoted words in a text", "tools: '\"Read\", \"Write\"'\n", ["FilesystemRead", "FilesystemWrite"], []],
    ["tools that need no right", "tools: Task, Agent, TodoWrite, ExitPlanMode\n", [], []],
    ["tools of MCP servers", "tools: Read, mcp__github__create_issue, mcp__playwright\n", ["FilesystemRead"], []],
    ["shell tools", "tools: BashOutput, KillShell\n", ["Shell"], []],
    ["search on the web", "tools: WebSearch\n", ["NetworkAccess"], []],
    ["an unknown tool", "tools: Read, Telepathy\n", ["FilesystemRead"], ["tool.unknown"]],
    ["a pattern", "tools: Bash(git add:*, git commit:*), Read\n", ["FilesystemRead", "Shell"], ["tool.pattern"]],
    ["what is disallowed", "tools: Read, Write, Bash\ndisallowedTools: Bash\n", ["FilesystemRead", "FilesystemWrite"], []],
    ["what is disallowed of all", "disallowedTools: [Write, Edit]\n", ["FilesystemRead", "SemanticSearch", "DatabaseRead", "DatabaseWrite", "NetworkAccess", "Shell"], []],
    ["a name of an object's own", "tools: constructor, Read\n", ["FilesystemRead"], ["tool.unknown"]],
  ])("maps %s to permissions", async (_, lines, permissions, codes) => {
    const { agent, codes: found } = await one(claude(lines));
    expect(agent?.permissions).toEqual(permissions);
    expect(found).toEqual(codes);
  });

  it.each([
    ["nothing", "", undefined, []],
    ["an alias", "model: opus\n", "opus", []],
    ["an alias in capitals", "model: Sonnet\n", "sonnet", []],
    ["inherit", "model: inherit\n", "inherit", []],
    ["a full id", "model: claude-sonnet-4-20250514\n", "claude-sonnet-4-20250514", []],
    ["default", "model: default\n", undefined, []],
    ["a number", "model: 4\n", "4", []],
    ["an odd word", "model: smart\n", undefined, ["model.unknown"]],
  ])("takes %s as its model", async (_, lines, model, codes) => {
    const { agent, codes: found } = await one(claude(lines));
    expect(agent?.model).toBe(model);
    expect(found).toEqual(codes);
  });

  it.each([
    ["an unquoted colon", "---\nname: x\ndescription: Use this agent when: code was written\ntools: Read\n---\nbody\n", "Use this agent when: code was written"],
    ["several colons", "---\nname: x\ndescription: Examples: Context: a: b\ntools: Read\n---\nbody\n", "Examples: Context: a: b"],
    ["an example on one line", "---\nname: x\ndescription: Use it after changes. Examples: <example>\\nuser: \"hi\"\\nassistant: \"I'll use x\"\\n</example>\ntools: Read\n---\nbody\n", "Use it after changes. Examples: <example>\\nuser: \"hi\"\\nassistant: \"I'll use x\"\\n</example>"],
    ["an example on several lines", "---\nname: x\ndescription: Use it: often\n<example>\nuser: \"hi\"\nassistant: \"yes\"\n</example>\ntools: Read\n---\nbody\n", "Use it: often\n<example>\nuser: \"hi\"\nassistant: \"yes\"\n</example>"],
    ["quotes inside quotes", "---\nname: x\ndescription: \"Use when \"done\" is said\"\ntools: Read\n---\nbody\n", "Use when \"done\" is said"],
    ["a quote that is never closed", "---\nname: x\ndescription: 'tis the season\ntools: Read\n---\nbody\n", "'tis the season"],
    ["a star", "---\nname: x\ndescription: *important* work\ntools: Read\n---\nbody\n", "*important* work"],
    ["a percent sign", "---\nname: x\ndescription: %100 sure\ntools: Read\n---\nbody\n", "%100 sure"],
    ["an at sign", "---\nname: x\ndescription: @team only\ntools: Read\n---\nbody\n", "@team only"],
    ["a backtick", "---\nname: x\ndescription: `cargo` expert\ntools: Read\n---\nbody\n", "`cargo` expert"],
    ["tabs", "---\nname: x\ndescription: Does it\n\twith tabs: yes\ntools:\n\t- Read\n---\nbody\n", "Does it\nwith tabs: yes"],
    ["an open bracket", "---\nname: x\ndescription: [beta] does: it\ntools: Read\n---\nbody\n", "[beta] does: it"],
    ["a bad escape", "---\nname: x\ndescription: \"a \\d b\"\ntools: Read\n---\nbody\n", "a \\d b"],
    ["a key twice", "---\nname: x\ndescription: one\ndescription: two\ntools: Read\n---\nbody\n", "one\ndescription: two"],
  ])("reads a description with %s as it was meant, with a warning", async (_, content, description) => {
    const { agent, problems } = await one(content);
    expect(agent).toMatchObject({ name: "x", description, permissions: ["FilesystemRead"] });
    expect(problems).toMatchObject([{ code: "frontmatter.loose", severity: "warning", line: expect.any(Number), hint: expect.stringContaining("quote") }]);
  });

  it.each([
    ["a name with spaces", "name: Code Reviewer\ndescription: d\n", "Code Reviewer"],
    ["a name that is a number", "name: 42\ndescription: d\n", "42"],
    ["a name in another script", "name: コードレビュー\ndescription: d\n", "コードレビュー"],
    ["a name with capitals", "name: UI-Designer\ndescription: d\n", "UI-Designer"],
    ["a name with an accent", "name: développeur\ndescription: d\n", "développeur"],
    ["a very long description", `name: x\ndescription: ${"long ".repeat(4000)}\n`, "x"],
    ["a folded description", "name: x\ndescription: >\n  one\n  two\n", "x"],
    ["a description that is a number", "name: x\ndescription: 7\n", "x"],
    ["all of Claude's own keys", "name: x\ndescription: d\ncolor: blue\npermissionMode: plan\nmaxTurns: 3\nskills: [a]\nmemory: user\nbackground: true\neffort: high\nisolation: worktree\ninitialPrompt: hi\nhooks: {Stop: []}\nmcpServers: [a]\n", "x"],
  ])("accepts %s", async (_, frontmatter, name) => {
    const { agent, codes } = await one(`---\n${frontmatter}---\nbody\n`);
    expect(agent?.name).toBe(name);
    expect(codes).toEqual([]);
  });

  it("accepts a byte order mark and Windows line ends", async () => {
    expect(await one(`\uFEFF${claude("tools: Read\n").replaceAll("\n", "\r\n")}`)).toMatchObject({ agent: { permissions: ["FilesystemRead"] }, codes: [] });
  });

  it("only warns about keys it does not know, and suggests", async () => {
    const { agent, problems } = await one(claude("version: 1.0\ntool: Read\n"));
    expect(agent?.name).toBe("x");
    expect(problems).toMatchObject([
      { code: "field.unknown", severity: "warning", line: 4, field: "version", hint: "" },
      { code: "field.unknown", severity: "warning", line: 5, field: "tool", hint: "did you mean 'tools'?" },
    ]);
  });

  it.each([
    ["no name", "---\ndescription: d\n---\nb\n", "field.missing", "name"],
    ["no description", "---\nname: x\n---\nb\n", "field.missing", "description"],
    ["an empty description", "---\nname: x\ndescription:\n---\nb\n", "field.missing", "description"],
    ["a name with an escape sequence", '---\nname: "a\\e[31m"\ndescription: d\n---\nb\n', "name.invalid", "name"],
    ["a name with a zero-width space", "---\nname: a\u200bb\ndescription: d\n---\nb\n", "name.invalid", "name"],
    ["20,000 levels", `---\nname: x\ndescription: d\na: ${"[".repeat(20_000)}\n---\nb\n`, "yaml.too_deep", ""],
    ["__proto__", "---\nname: x\ndescription: d\n__proto__: {x: 1}\n---\nb\n", "yaml.unsafe_key", "__proto__"],
    ["a frontmatter without end", "---\nname: x\ndescription: d\n", "frontmatter.unclosed", ""],
  ])("still refuses %s", async (_, content, code, field) => {
    const { agent, problems } = await one(content);
    expect(agent).toBeUndefined();
    expect(problems.find((p) => p.severity === "error")).toMatchObject({ code, field });
  });

  it("passes over what has no frontmatter, with a warning", async () => {
    const { agent, problems } = await one("# Our agents\n\nRead me.\n");
    expect(agent).toBeUndefined();
    expect(problems).toMatchObject([{ code: "frontmatter.missing", severity: "warning", line: 1, hint: "move notes elsewhere" }]);
  });

  it("finds agents in folders below, and lets the project's own, then the user's Crucible agents win", async () => {
    const { load } = agentWorld({
      project: { ".claude/agents/team/deep/a.md": claude("").replace("name: x", "name: nested"), ".claude/agents/b.md": claude("").replace("name: x", "name: both"), ".claude/agents/c.md": claude("").replace("name: x", "name: mine") },
      home: { ".claude/agents/b.md": claude("").replace("name: x", "name: both"), ".claude/agents/d.md": claude("").replace("name: x", "name: home"), ".config/crucible/agents/mine.md": agentFile("mine") },
    });
    const { items } = await load();
    const found = Object.fromEntries(items.filter((e) => e.source !== "builtin").map((e) => [e.name, e]));
    expect(Object.keys(found)).toEqual(["both", "home", "mine", "nested"]);
    expect(found.both?.path).toContain("/project/");
    expect(found.home?.path).toContain("/home/");
    expect(found.mine?.source).toBe("system");
  });

  it("warns when two of them have one name", async () => {
    const { load } = agentWorld({ project: { ".claude/agents/a/x.md": claude(""), ".claude/agents/b/x.md": claude("color: red\n") } });
    const { items, problems } = await load();
    expect(items.find((e) => e.name === "x")?.path).toMatch(/a\/x\.md$/);
    expect(problems).toMatchObject([{ code: "name.twin", severity: "warning", path: ".claude/agents/b/x.md" }]);
  });
});
