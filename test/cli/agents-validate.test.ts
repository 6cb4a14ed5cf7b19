import { describe, expect, it } from "vitest";
import { agentFile } from "../support/agents.ts";
import { machine } from "../support/cru.ts";

describe("cru agents validate", () => {
  it("[CRU-2.3.4] [CRU-12.3.3] confirms when all is well, exit 0", async () => {
    const m = machine({ home: { ".config/crucible/agents/a.md": agentFile("a") }, project: { ".crucible/agents/b.md": agentFile("b"), ".crucible/agents/off.md": agentFile("off", { enabled: "false" }) } });
    expect(await m.cru(["agents", "validate"])).toEqual({ code: 0, stdout: "3 agents checked, no problems\n", stderr: "" });
    expect(JSON.parse((await m.cru(["agents", "validate", "--json"])).stdout)).toEqual({ checked: 3, problems: [] });
  });

  it("[CRU-2.3.1] [CRU-2.3.2] [CRU-2.3.3] [CRU-12.3.1] checks both places, disabled agents too, and exits 3 with every problem and its file", async () => {
    const m = machine({
      home: { ".config/crucible/agents/a.md": agentFile("a", { max_retries: "lots" }) },
      project: { ".crucible/agents/b.md": agentFile("b", { permissions: "[Shel]" }), ".crucible/agents/off.md": agentFile("off", { enabled: "false", model: "opsu" }), ".crucible/agents/ok.md": agentFile("ok") },
    });
    const { code, stdout, stderr } = await m.cru(["agents", "validate"]);
    expect(code).toBe(3);
    expect(stdout.split("\n")).toEqual([
      "~/.config/crucible/agents/a.md:5:14: max_retries: expected a number, found 'lots' (write a whole number from 0 to 10)",
      ".crucible/agents/b.md:4:15: permissions: unknown permission 'Shel' (did you mean 'Shell'?)",
      ".crucible/agents/off.md:6:8: model: unknown model 'opsu' (did you mean 'opus'? A full model id is fine too)",
      "",
    ]);
    expect(stderr).toBe("4 agents checked, 3 errors\n");
  });

  it("warns of an approval for a right that the agent never has", async () => {
    const m = machine({ project: { ".crucible/agents/b.md": agentFile("b", { permissions: "[FilesystemWrite]", requires_approval: "[Shell, FilesystemRead, FilesystemWrite]" }) } });
    const { code, stdout } = await m.cru(["agents", "validate"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/requires_approval: this agent never has Shell, so nothing will ask \(add Shell to permissions, or remove it here\) \[warning\]\n1 agent checked, no problems but 1 warning\n$/) });
  });

  it("[CRU-12.3.2] [CRU-12.3.4] gives the problems as JSON for CI", async () => {
    const m = machine({ project: { ".crucible/agents/b.md": agentFile("b", { permissions: "[Shel]" }) } });
    const { code, stdout } = await m.cru(["agents", "validate", "--json"]);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toEqual({
      checked: 1,
      problems: [{ path: ".crucible/agents/b.md", line: 4, column: 15, field: "permissions", message: "unknown permission 'Shel'", hint: "did you mean 'Shell'?", severity: "error", code: "permission.unknown" }],
    });
  });

  it("[CRU-12.4.1] [CRU-12.4.2] [CRU-12.4.3] checks only the one that is named, with every problem and a suggestion for each", async () => {
    const m = machine({ project: { ".crucible/agents/b.md": agentFile("other", { permissions: "[Shel]" }), ".crucible/agents/c.md": agentFile("mine", { modle: "opus", permissions: "[filesystemread]" }) } });
    const { code, stdout } = await m.cru(["agents", "validate", "mine"]);
    expect(code).toBe(3);
    expect(stdout).toBe(".crucible/agents/c.md:4:15: permissions: unknown permission 'filesystemread' (did you mean 'FilesystemRead'?)\n.crucible/agents/c.md:5:1: modle: unknown key 'modle' (did you mean 'model'?)\n");
  });

  it("[CRU-12.4.1] finds a broken file by its own name, and says fine of one that is", async () => {
    const m = machine({ project: { ".crucible/agents/broken.md": "---\nname: [\n---\nx\n", ".crucible/agents/fine.md": agentFile("fine") } });
    const broken = await m.cru(["agents", "validate", "broken"]);
    expect([broken.code, broken.stdout]).toEqual([3, ".crucible/agents/broken.md:3:1: what stands above is not closed, or this is not indented (close the quotes or brackets above, or indent this)\n"]);
    expect(await m.cru(["agents", "validate", "fine"])).toEqual({ code: 0, stdout: "1 agent checked, no problems\n", stderr: "" });
    expect((await m.cru(["agents", "validate", "explore"])).code).toBe(0);
  });

  it("exits 2 for a name that no file has", async () => {
    const { code, stderr } = await machine().cru(["agents", "validate", "explorer"]);
    expect([code, stderr]).toEqual([2, "cru: agent not found: explorer\n  → did you mean 'explore'?\n"]);
  });

  it("does not fail for warnings", async () => {
    const m = machine({ project: { ".claude/agents/README.md": "Read me\n", ".claude/agents/x.md": "---\nname: x\ndescription: when: now\n---\nb\n" } });
    const { code, stdout } = await m.cru(["agents", "validate"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/README\.md:1:1: .* \[warning\]\n.*x\.md:3:18: .* \[warning\]\n1 agent checked, no problems but 2 warnings\n$/);
  });

  it("never shows a stack trace, whatever the bytes", async () => {
    const hostile = { a: "---\n\u001b[31m: \u0000\n---\n", b: "---\n? [\n---\n", c: "---\n%YAML 9\n---\n", d: "---\n!!python/object:os.system x\n---\n", e: "\uFEFF\uFEFF---\n", f: "---\n- &a [*a]\n---\n" };
    const m = machine({ project: Object.fromEntries(Object.entries(hostile).map(([name, text]) => [`.crucible/agents/${name}.md`, text])) });
    const { code, stdout, stderr } = await m.cru(["agents", "validate"]);
    expect(code).toBe(3);
    expect(stdout + stderr).not.toMatch(/\n\s+at |bug in Crucible|node:internal/);
    expect([...new Set(stdout.trimEnd().split("\n").map((line) => line.slice(0, 21)))]).toEqual([..."abcdef"].map((name) => `.crucible/agents/${name}.md`));
  });
});
