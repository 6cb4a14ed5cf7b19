import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { run } from "../../src/cli/commands/agents-list.ts";
import { agentFile } from "../support/agents.ts";
import { machine } from "../support/cru.ts";

type Row = { name: string; description: string; model: string; permissions: string[] | "inherit"; source: string; path: string; enabled: boolean; trusted: boolean };
type Listing = { agents: Row[]; problems: { path: string; code: string }[] };

async function listing(m: ReturnType<typeof machine>, env: Record<string, string> = {}): Promise<Listing> {
  const { code, stdout, stderr } = await m.cru(["agents", "list", "--json"], { env });
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout) as Listing;
}

describe("cru agents list", () => {
  it("[CRU-1.1.1] [CRU-1.1.3] [CRU-2.1.2] shows a project agent at the next call after its file was written", async () => {
    const m = machine({ project: { ".crucible/agents/first.md": agentFile("first") } });
    expect((await listing(m)).agents.map((a) => a.name)).not.toContain("late");
    writeFileSync(join(m.project, ".crucible/agents/late.md"), agentFile("late"));
    expect((await listing(m)).agents).toContainEqual({
      name: "late", description: "Does what late does", model: "sonnet", permissions: ["FilesystemRead"], source: "project",
      path: join(m.project, ".crucible/agents/late.md"), enabled: true, trusted: false,
    });
  });

  it("[CRU-2.1.1] [CRU-2.1.3] [CRU-2.2.2] finds the system's agents and the project's and says which is which", async () => {
    const m = machine({ home: { ".config/crucible/agents/mine.md": agentFile("mine") }, project: { ".crucible/agents/ours.md": agentFile("ours") } });
    const { agents } = await listing(m);
    expect(agents.filter((a) => a.source !== "builtin").map((a) => [a.name, a.source, a.trusted])).toEqual([["mine", "system", true], ["ours", "project", false]]);
    expect(agents.filter((a) => a.source === "builtin").map((a) => a.name)).toEqual(["code-reviewer", "documentation-writer", "explore", "implementer", "refactoring-assistant", "test-generator"]);
  });

  it("honours XDG_CONFIG_HOME", async () => {
    const m = machine({ home: { "xdg/crucible/agents/mine.md": agentFile("mine") } });
    expect((await listing(m, { XDG_CONFIG_HOME: join(m.home, "xdg") })).agents.map((a) => a.name)).toContain("mine");
  });

  it("[CRU-1.4.1] [CRU-1.4.2] shows the project's agent with its path where both have one", async () => {
    const m = machine({ home: { ".config/crucible/agents/same.md": agentFile("same") }, project: { ".crucible/agents/same.md": agentFile("same", { description: "the project's" }) } });
    const { stdout, stderr } = await m.cru(["agents", "list"]);
    expect(stderr).toBe("warning: 'same' of this project is not trusted; until then ~/.config/crucible/agents/same.md is used\n");
    expect((await listing(m)).agents.find((a) => a.name === "same")).toMatchObject({ source: "project", trusted: false, used_instead: { source: "system" } });
    expect(stdout.split("\n").filter((l) => l.startsWith("same\t"))).toEqual(["same\tthe project's\tsonnet\tFilesystemRead\tproject\t.crucible/agents/same.md\tuntrusted"]);
  });

  it("[CRU-12.1.1] [CRU-12.1.2] [CRU-12.1.3] [CRU-12.1.4] prints name, description, model, permissions and source, sorted by name, one plain line each when piped", async () => {
    const m = machine({
      home: { ".config/crucible/agents/z.md": agentFile("zebra", { model: "haiku", permissions: "[Shell, FilesystemWrite]" }) },
      project: { ".crucible/agents/a.md": agentFile("aardvark", { permissions: "[]" }), ".claude/agents/m.md": "---\nname: mole\ndescription: digs\nmodel: inherit\n---\nDig.\n" },
    });
    const { code, stdout, stderr } = await m.cru(["agents", "list"], { env: { NO_COLOR: "" } });
    const rows = stdout.trimEnd().split("\n").map((line) => line.split("\t"));
    expect(rows.filter((r) => r[4] !== "builtin")).toEqual([
      ["aardvark", "Does what aardvark does", "sonnet", "none", "project", ".crucible/agents/a.md", "untrusted"],
      ["mole", "digs", "inherit", "inherit", "claude", ".claude/agents/m.md", "untrusted"],
      ["zebra", "Does what zebra does", "haiku", "FilesystemWrite,Shell", "system", "~/.config/crucible/agents/z.md", "trusted"],
    ]);
    expect(rows.map((r) => r[0])).toEqual(rows.map((r) => r[0]).toSorted());
    expect([code, stderr, stdout.includes("\u001b")]).toEqual([0, "", false]);
  });

  it("[CRU-2.2.1] [CRU-2.2.3] [CRU-12.1.1] prints a table as wide as the terminal", async () => {
    const m = machine({ home: { ".config/crucible/agents/r.md": agentFile("reviewer", { model: "opus", description: `Reviews ${"very ".repeat(40)}long`, permissions: "[FilesystemRead, Shell]" }) } });
    let out = "";
    const io = { out: (text: string) => (out += text), err: () => {}, outIsTerminal: true, errIsTerminal: true, inIsTerminal: true, columns: 80 };
    expect(await run({ args: [], options: {}, cwd: m.project, env: { HOME: m.home, NO_COLOR: "1" }, io })).toBe(0);
    const lines = out.split("\n");
    expect(lines[0]).toMatch(/^NAME +MODEL +SOURCE +DESCRIPTION$/);
    const at = lines.findIndex((line) => line.startsWith("reviewer "));
    expect(lines[at]).toMatch(/^reviewer +opus +system +Reviews very .*…$/);
    expect(lines[at + 1]).toBe("    FilesystemRead,Shell · ~/.config/crucible/agents/r.md");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(out).not.toContain("\u001b");
  });

  it("[CRU-10.1.1] [CRU-2.2.4] [CRU-10.2.3] leaves a disabled agent out until it is enabled again", async () => {
    const m = machine({ project: { ".crucible/agents/a.md": agentFile("sleeper", { enabled: "false" }) } });
    expect((await listing(m)).agents.map((a) => a.name)).not.toContain("sleeper");
    writeFileSync(join(m.project, ".crucible/agents/a.md"), agentFile("sleeper", { enabled: "true" }));
    expect((await listing(m)).agents.map((a) => a.name)).toContain("sleeper");
  });

  it("[CRU-10.3.1] [CRU-10.3.2] a system agent that says nothing about it is enabled and available at once", async () => {
    const m = machine({ home: { ".config/crucible/agents/a.md": agentFile("fresh") } });
    expect((await listing(m)).agents.find((a) => a.name === "fresh")).toMatchObject({ enabled: true, trusted: true });
  });

  it("[CRU-2.1.4] [CRU-1.3.3] warns about a broken file and goes on", async () => {
    const m = machine({ project: { ".crucible/agents/bad.md": agentFile("bad", { permissions: "[WriteDatabase]", model: "sonet" }), ".crucible/agents/good.md": agentFile("good") } });
    const { code, stdout, stderr } = await m.cru(["agents", "list"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^good\t/m);
    expect(stdout).not.toMatch(/^bad\t/m);
    expect(stderr).toBe(
      "warning: .crucible/agents/bad.md:4:15: permissions: unknown permission 'WriteDatabase' (did you mean 'DatabaseWrite'?)\n" +
        "warning: .crucible/agents/bad.md:5:8: model: unknown model 'sonet' (did you mean 'sonnet'? A full model id is fine too)\n",
    );
    expect(JSON.parse((await m.cru(["agents", "list", "--json"])).stdout)).toMatchObject({ problems: [{ path: ".crucible/agents/bad.md", line: 4, column: 15, field: "permissions", severity: "error", code: "permission.unknown" }, { code: "model.unknown" }] });
  });

  it("counts mere warnings instead of printing each", async () => {
    const m = machine({ project: { ".claude/agents/README.md": "Read me\n", ".claude/agents/x.md": "---\nname: x\ndescription: d\nfoo: 1\n---\nb\n" } });
    expect((await m.cru(["agents", "list"])).stderr).toBe("note: 2 smaller problems in definitions; `cru agents validate` shows them\n");
  });

  it("shows what a stranger wrote inert", async () => {
    const evil = "\u001b]0;owned\u0007\u001b[2J\rname\tfake\u202Eevil\u200b";
    const m = machine({ project: { ".claude/agents/x.md": `---\nname: x\ndescription: ${JSON.stringify(evil)}\n---\nb\n` } });
    const plain = await m.cru(["agents", "list"]);
    const json = await m.cru(["agents", "list", "--json"]);
    // oxlint-disable-next-line no-control-regex
    expect(plain.stdout + plain.stderr + json.stdout).not.toMatch(/[\u001b\u0007\r\u202e\u200b]/);
    expect(plain.stdout.split("\n").find((l) => l.startsWith("x\t"))?.split("\t")).toHaveLength(7);
    expect((JSON.parse(json.stdout) as Listing).agents.find((a) => a.name === "x")?.description).toBe(evil);
  });

  it("takes the default model from the settings", async () => {
    const m = machine({ home: { ".config/crucible/config.yaml": "model: opus\n", ".config/crucible/agents/a.md": agentFile("a") } });
    expect((await listing(m)).agents.find((a) => a.name === "a")?.model).toBe("opus");
  });

  it("marks project agents as trusted once they are", async () => {
    const m = machine({ project: { ".crucible/agents/a.md": agentFile("a") } });
    expect((await listing(m, { CRU_TRUST: "1" })).agents.find((a) => a.name === "a")?.trusted).toBe(true);
    expect((await listing(m)).agents.find((a) => a.name === "a")?.trusted).toBe(false);
  });

  it("works from a folder inside the project, outside any project, and with a home that is not there", async () => {
    const m = machine({ project: { ".crucible/agents/a.md": agentFile("a"), "src/deep/x": "" } });
    expect((await m.cru(["agents", "list"], { cwd: join(m.project, "src/deep") })).stdout).toMatch(/^a\t/m);
    rmSync(m.home, { recursive: true });
    const { code, stdout } = await m.cru(["agents", "list"], { cwd: join(m.project, "..") });
    expect([code, /^explore\t/m.test(stdout), /^a\t/m.test(stdout)]).toEqual([0, true, false]);
  });
});
