import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentFile, agentWorld, type AgentWorld } from "../support/agents.ts";

const descriptions = async (world: AgentWorld) => (await world.load()).items.filter((e) => e.source === "project").map((e) => `${e.name}: ${e.value.description}`);

describe("the index of the catalog", () => {
  it("never shows what a file said before, not even for edits of the same size in the same tick", async () => {
    const world = agentWorld();
    const path = join(world.project, ".crucible/agents/a.md");
    for (let round = 0; round < 50; round++) {
      const text = `round ${String(round).padStart(3, "0")}`;
      writeFileSync(path, agentFile("a", { description: text }));
      utimesSync(path, 1_700_000_000, 1_700_000_000);
      expect(await descriptions(world)).toEqual([`a: ${text}`]);
    }
  });

  it("sees files that were replaced, renamed, deleted and restored", async () => {
    const world = agentWorld({ project: { ".crucible/agents/a.md": agentFile("a", { description: "one" }), "new.md": agentFile("a", { description: "two" }) } });
    const path = (name: string) => join(world.project, ".crucible/agents", name);
    expect(await descriptions(world)).toEqual(["a: one"]);
    renameSync(join(world.project, "new.md"), path("a.md"));
    expect(await descriptions(world)).toEqual(["a: two"]);
    renameSync(path("a.md"), path("b.md"));
    expect((await world.load()).items.find((e) => e.name === "a")?.path).toBe(path("b.md"));
    rmSync(path("b.md"));
    expect(await descriptions(world)).toEqual([]);
    writeFileSync(path("a.md"), agentFile("a", { description: "one" }));
    expect(await descriptions(world)).toEqual(["a: one"]);
  });

  it("says the same with the index as without it, problems included", async () => {
    const world = agentWorld({ project: { ".crucible/agents/good.md": agentFile("good", { model: "haiku", requires_approval: "[Shell]" }), ".crucible/agents/bad.md": agentFile("bad", { model: "sonet" }), ".claude/agents/odd.md": "---\nname: odd\ndescription: a: b\n---\nx\n" } });
    const cold = await world.load();
    const warm = await world.load();
    expect(warm).toEqual(cold);
    expect(JSON.stringify(warm.problems)).toBe(JSON.stringify(cold.problems));
    expect(cold.problems.map((p) => p.code)).toEqual(["frontmatter.loose", "model.unknown", "field.value"]);
  });

  it.each([
    ["cut off", (text: string) => text.slice(0, -40)],
    ["empty", () => ""],
    ["not JSON", () => "garbage"],
    ["poisoned", (text: string) => text.replaceAll("FilesystemRead", "Shell")],
    ["of an older release", (text: string) => text.replace(/"schema":\d+/, '"schema":0')],
    ["JSON of another shape", () => "null"],
    ["full of NUL", () => "\0".repeat(500)],
  ])("is ignored when it is %s", async (_, damage) => {
    const world = agentWorld({ project: { ".crucible/agents/a.md": agentFile("a") } });
    const before = await world.load();
    writeFileSync(world.indexFile, damage(readFileSync(world.indexFile, "latin1")), "latin1");
    expect(await world.load()).toEqual(before);
    expect(before.items.find((e) => e.name === "a")?.value.permissions).toEqual(["FilesystemRead"]);
  });

  it("is only for this user, and leaves nothing else behind", async () => {
    const world = agentWorld({ project: { ".crucible/agents/a.md": agentFile("a") } });
    await world.load();
    expect(statSync(world.indexFile).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(world.indexFile)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(world.indexFile))).toEqual(["agents.json"]);
  });

  it("is not needed: a cache that cannot be written changes nothing", async () => {
    const world = agentWorld({ project: { ".crucible/agents/a.md": agentFile("a") } });
    writeFileSync(join(world.base, "cache"), "a file where the folder should be");
    expect(await descriptions(world)).toEqual(["a: Does what a does"]);
    rmSync(join(world.base, "cache"));
    mkdirSync(join(world.base, "cache"));
    chmodSync(join(world.base, "cache"), 0o500);
    expect(await descriptions(world)).toEqual(["a: Does what a does"]);
  });

  it("does not read one dialect's meaning for another's", async () => {
    const same = agentFile("same");
    const world = agentWorld({ project: { ".claude/agents/same.md": same } });
    expect((await world.load()).items.find((e) => e.name === "same")).toMatchObject({ source: "claude", value: { permissions: "inherit" } });
    mkdirSync(dirname(world.paths.project.agents), { recursive: true });
    writeFileSync(join(world.paths.project.agents, "same.md"), same);
    expect((await world.load()).items.find((e) => e.name === "same")).toMatchObject({ source: "project", value: { permissions: ["FilesystemRead"] } });
  });
});
