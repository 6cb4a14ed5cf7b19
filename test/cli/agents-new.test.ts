import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { machine } from "../support/cru.ts";
import { temporaryFolder } from "../support/temp.ts";

const AGENT = "---\nname: taken\ndescription: d\npermissions: []\n---\nhello\n";

describe("cru agents new", () => {
  it("writes a valid, trusted agent that explains itself, prints its path and the next step", async () => {
    const { cru, project } = machine();
    const { code, stdout, stderr } = await cru(["agents", "new", "api-reviewer"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${join(project, ".crucible/agents/api-reviewer.md")}\n` });
    expect(stderr).toContain("cru agents validate api-reviewer");
    expect(await cru(["agents", "validate", "api-reviewer", "--json"])).toMatchObject({ code: 0, stdout: expect.stringContaining('"problems": []') });
    const { agents } = JSON.parse((await cru(["agents", "list", "--json"])).stdout) as { agents: { name: string }[] };
    expect(agents.find((a) => a.name === "api-reviewer")).toMatchObject({ source: "project", trusted: true, model: "sonnet", permissions: ["FilesystemRead", "SemanticSearch"] });
    const text = readFileSync(stdout.trim(), "utf8");
    for (const part of ["## Method", "## Limits", "## Output", "## Summary", "# Other agents choose by this sentence"]) expect(text).toContain(part);
  });

  it("points editors to a schema that is there", async () => {
    const { cru, project } = machine();
    await cru(["agents", "new", "one"]);
    const schema = /\$schema=(\S+)/.exec(readFileSync(join(project, ".crucible/agents/one.md"), "utf8"))?.[1] ?? "";
    expect(JSON.parse(readFileSync(join(project, ".crucible/agents", schema), "utf8"))).toHaveProperty("properties.permissions");
  });

  it.each(["Finds: things, [and] \"more\" #hash", "tab\tand\nline", "- starts like a list", "{{.x}} ${y} \\u0041", "é 漢 🙂"])("takes the description %j, the model and the rights as given", async (description) => {
    const { cru } = machine();
    expect((await cru(["agents", "new", "a1", "--description", description, "--model", "claude-opus-4-1", "--permissions", "Shell, FilesystemWrite"])).code).toBe(0);
    const { agent } = JSON.parse((await cru(["agents", "show", "a1", "--json"])).stdout) as { agent: object };
    expect(agent).toMatchObject({ description, model: "claude-opus-4-1", permissions: ["FilesystemWrite", "Shell"] });
  });

  it("writes for all projects with --system, also where the user's folder is a link", async () => {
    const { cru, home, project } = machine();
    const dotfiles = temporaryFolder();
    mkdirSync(join(home, ".config"));
    symlinkSync(dotfiles, join(home, ".config/crucible"));
    const { code, stdout } = await cru(["agents", "new", "mine", "--system", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ agent: { name: "mine", source: "system" }, replaces: null, hidden_by: null });
    expect(readdirSync(join(dotfiles, "agents"))).toEqual(["mine.md"]);
    expect(existsSync(join(project, ".crucible"))).toBe(false);
    expect((await cru(["agents", "validate", "mine"])).code).toBe(0);
  });

  it.each(["../x", "a/b", "CON", "con", "-x", ".hidden", "a..b", "x.lock", "Upper", "a b", "a".repeat(65), "é", "a\u200bb", "", "primary"])("refuses the name %j before it becomes a path", async (name) => {
    const { cru, project } = machine();
    const { code, stderr } = await cru(["agents", "new", "--", name]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/not a valid name|reserved name/);
    expect(readdirSync(project)).toEqual([]);
  });

  it("refuses a name that is taken, by the file or inside another file, and leaves both as they are", async () => {
    const { cru, project } = machine({ project: { ".crucible/agents/taken.md": AGENT, ".crucible/agents/other.md": AGENT.replace("taken", "inside") } });
    for (const name of ["taken", "inside", "other"]) expect(await cru(["agents", "new", name])).toMatchObject({ code: 2, stderr: expect.stringContaining(`there is already an agent '${name}'`) });
    expect(readFileSync(join(project, ".crucible/agents/taken.md"), "utf8")).toBe(AGENT);
    expect(readdirSync(join(project, ".crucible/agents")).sort()).toEqual(["other.md", "taken.md"]);
  });

  it("says whose place the new agent takes, or who goes first", async () => {
    const { cru } = machine();
    expect((await cru(["agents", "new", "explore"])).stderr).toContain("takes the place of the builtin agent");
    expect((await cru(["agents", "new", "explore", "--system"])).stderr).toContain("the project's own agent of the same name goes first");
  });

  it.each([
    [["--model", "sonet"], "unknown model 'sonet'", "did you mean 'sonnet'?"],
    [["--permissions", "Shel"], "unknown permission 'Shel'", "did you mean 'Shell'?"],
    [["--permissions", "FilesystemRead,WriteFilesystem"], "unknown permission 'WriteFilesystem'", "did you mean 'FilesystemWrite'?"],
    [["--description", "  "], "description: must not be empty", ""],
    [["--description", "x".repeat(5000)], "description: must be at most 4096", ""],
  ])("refuses a bad option (case %#) and writes nothing", async (options, message, hint) => {
    const { cru, project } = machine();
    const { code, stderr } = await cru(["agents", "new", "x1", ...options]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(readdirSync(project)).toEqual([]);
  });

  it.each([".crucible", ".crucible/agents"])("writes nothing through a link at %s", async (link) => {
    const { cru, project } = machine();
    const elsewhere = temporaryFolder();
    mkdirSync(join(project, link, ".."), { recursive: true });
    symlinkSync(elsewhere, join(project, link));
    expect(await cru(["agents", "new", "x1"])).toMatchObject({ code: 2, stderr: expect.stringContaining(`${link} is a link`) });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it("in the home folder points to --system", async () => {
    const { cru, home } = machine();
    expect(await cru(["agents", "new", "x1"], { cwd: home })).toMatchObject({ code: 2, stderr: expect.stringContaining("--system") });
  });
});
