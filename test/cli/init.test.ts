import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { agentSchema } from "../../src/contract/agent.ts";
import { DEFAULT_SETTINGS } from "../../src/contract/settings-defaults.ts";
import { settingsSchema } from "../../src/contract/settings.ts";
import { finish, machine } from "../support/cru.ts";
import { temporaryFolder } from "../support/temp.ts";

const IGNORED = [".crucible/sessions", ".crucible/inbox", ".crucible/cache", ".coven/logs", ".coven/worktrees", ".coven/requests"];
const FOLDERS = [".crucible/agents", ".coven/grimoires", ".coven/spells"];

function snapshot(folder: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    files[path.slice(folder.length + 1)] = entry.isFile() ? readFileSync(path, "utf8") : "/";
  }
  return files;
}

async function git(cwd: string, ...args: string[]): Promise<string> {
  const run = await finish("git", args, { cwd, env: { PATH: process.env.PATH ?? "", HOME: cwd, GIT_CONFIG_GLOBAL: "/dev/null" } });
  expect(run.code).toBe(0);
  return run.stdout;
}

describe("cru init", () => {
  it("makes every folder and file, says so, and says that git is missing", async () => {
    const { cru, project } = machine();
    const { code, stdout } = await cru(["init"]);
    expect(code).toBe(0);
    for (const folder of FOLDERS) expect(lstatSync(join(project, folder)).isDirectory()).toBe(true);
    for (const folder of IGNORED) expect(readFileSync(join(project, folder, ".gitignore"), "utf8")).toBe("*\n");
    for (const path of [...FOLDERS, ".crucible/config.yaml", ...IGNORED.map((f) => `${f}/.gitignore`)]) expect(stdout).toContain(`  created  ${path}\n`);
    expect(stdout).toContain("no git repository");
  });

  it("a second time changes nothing and says what it kept", async () => {
    const { cru, project } = machine();
    await cru(["init"]);
    const before = snapshot(project);
    const { code, stdout } = await cru(["init"]);
    expect(code).toBe(0);
    expect(snapshot(project)).toEqual(before);
    expect(stdout).toContain("Already set up");
    expect(stdout).not.toContain("created");
    expect(stdout).toContain("  kept     .crucible/config.yaml");
  });

  it("never overwrites: what a user changed stays, what is missing comes back", async () => {
    const { cru, project } = machine();
    await cru(["init"]);
    writeFileSync(join(project, ".crucible/config.yaml"), "model: opus\n");
    writeFileSync(join(project, ".crucible/schemas/agent.schema.json"), "{}\n");
    rmSync(join(project, ".crucible/inbox"), { recursive: true });
    const { stdout } = await cru(["init", "--json"]);
    expect(readFileSync(join(project, ".crucible/config.yaml"), "utf8")).toBe("model: opus\n");
    expect(readFileSync(join(project, ".crucible/schemas/agent.schema.json"), "utf8")).toBe("{}\n");
    const { items } = JSON.parse(stdout) as { items: { path: string; status: string; note?: string }[] };
    expect(items.filter((i) => i.status === "created").map((i) => i.path)).toEqual([".crucible/inbox/.gitignore"]);
    expect(items.find((i) => i.path.endsWith("agent.schema.json"))?.note).toContain("another version");
  });

  it("writes settings that are valid as they are, and valid and built-in when every comment is taken off", async () => {
    const { cru, project } = machine();
    await cru(["init"]);
    const text = readFileSync(join(project, ".crucible/config.yaml"), "utf8");
    expect(text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([]);
    const settings = settingsSchema.parse(load(text.replace(/^[\s\S]*?\n\n/, "").replaceAll(/^# /gm, "")));
    expect(DEFAULT_SETTINGS).toMatchObject(settings);
  });

  it("points editors to schemas that are there", async () => {
    const { cru, project } = machine();
    await cru(["init"]);
    const schema = /\$schema=(\S+)/.exec(readFileSync(join(project, ".crucible/config.yaml"), "utf8"))?.[1] ?? "";
    expect(JSON.parse(readFileSync(join(project, ".crucible", schema), "utf8"))).toHaveProperty("properties.model");
    expect(Object.keys(agentSchema.shape)).toEqual(Object.keys((JSON.parse(readFileSync(join(project, ".crucible/schemas/agent.schema.json"), "utf8")) as { properties: object }).properties));
  });

  it("in a repository works from a folder inside it, and what runs leave behind stays out of git", async () => {
    const { cru, project } = machine({ project: { "src/a.ts": "" } });
    await git(project, "init", "-q");
    const { stdout } = await cru(["init", "--json"], { cwd: join(project, "src") });
    expect(JSON.parse(stdout)).toMatchObject({ root: project, git: true });
    for (const folder of IGNORED) writeFileSync(join(project, folder, "left-behind"), "x");
    const seen = await git(project, "status", "--porcelain", "-uall");
    expect(seen.split("\n").filter((line) => line !== "").map((line) => line.slice(3))).toEqual([
      ".crucible/config.yaml", ".crucible/schemas/agent.schema.json", ".crucible/schemas/config.schema.json", ".crucible/schemas/grimoire.schema.json", "src/a.ts",
    ]);
  });

  it("trusts what it wrote and nothing that was there before", async () => {
    const fresh = machine();
    expect(JSON.parse((await fresh.cru(["init", "--json"])).stdout)).toMatchObject({ untrusted: 0 });
    const clone = machine({ project: { ".crucible/config.yaml": "model: opus\n", ".crucible/agents/x.md": "hello" } });
    expect(JSON.parse((await clone.cru(["init", "--json"])).stdout)).toMatchObject({ untrusted: 2 });
    expect((await clone.cru(["init"])).stdout).toContain("cru trust");
  });

  it("refuses the home folder and writes nothing there", async () => {
    const { cru, home } = machine();
    expect(await cru(["init"], { cwd: home })).toMatchObject({ code: 2, stderr: expect.stringContaining("your home folder, not a project") });
    expect(readdirSync(home)).toEqual([]);
  });

  it.each([".crucible", ".coven", ".crucible/agents", ".coven/worktrees"])("writes nothing through a link at %s", async (link) => {
    const { cru, project } = machine();
    const elsewhere = temporaryFolder();
    mkdirSync(join(project, link, ".."), { recursive: true });
    symlinkSync(elsewhere, join(project, link));
    expect(await cru(["init"])).toMatchObject({ code: 2, stderr: expect.stringContaining(`${link} is a link`) });
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it("leaves a link in place of a file alone, even one that leads nowhere", async () => {
    const { cru, project } = machine();
    const target = join(temporaryFolder(), "outside.yaml");
    mkdirSync(join(project, ".crucible"));
    symlinkSync(target, join(project, ".crucible/config.yaml"));
    expect((await cru(["init"])).code).toBe(0);
    expect(existsSync(target)).toBe(false);
  });
});
