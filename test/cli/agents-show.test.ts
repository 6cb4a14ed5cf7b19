import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentFile } from "../support/agents.ts";
import { machine } from "../support/cru.ts";

describe("cru agents show", () => {
  it("[CRU-12.2.1] [CRU-12.2.2] [CRU-12.2.3] [CRU-12.2.4] prints the whole frontmatter, the prompt, the path and whether it is enabled", async () => {
    const m = machine({ project: { ".crucible/agents/r.md": agentFile("reviewer", { model: "opus", enable_reflection: "true", max_retries: "3", reflection_criteria: "|\n  - complete?\n  - correct?", requires_approval: "[Shell]", approval_timeout: "60" }, "Review it.\n\nAll of it.") } });
    const { code, stdout, stderr } = await m.cru(["agents", "show", "reviewer"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.replace(/hash: [0-9a-f]{64}/, "hash: …")).toBe(`name: reviewer
description: Does what reviewer does
model: opus
model_source: definition
permissions: FilesystemRead
enabled: true
enable_reflection: true
max_retries: 3
reflection_criteria: |
  - complete?
  - correct?
requires_approval: Shell
approval_timeout: 60
source: project
path: .crucible/agents/r.md
hash: …
trusted: false

Review it.

All of it.
`);
  });

  it("[CRU-12.2.1] [CRU-12.2.2] [CRU-12.2.3] prints the same as JSON, with what we do not use", async () => {
    const m = machine({ project: { ".claude/agents/x.md": "---\nname: x\ndescription: d\ntools: Read, Bash\ncolor: blue\nskills: [a, b]\n---\n\nDo it.\n" } });
    const { stdout } = await m.cru(["agents", "show", "x", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      agent: { name: "x", permissions: ["FilesystemRead", "Shell"], source: "claude", path: join(m.project, ".claude/agents/x.md"), prompt: "Do it.", frontmatter: { color: "blue", skills: ["a", "b"], tools: "Read, Bash" }, trusted: false },
    });
    expect((await m.cru(["agents", "show", "x"])).stdout).toMatch(/^color: blue\nskills: a, b$/m);
  });

  it("[CRU-9.2.1] says that an agent without a model gets sonnet, by default", async () => {
    const m = machine({ home: { ".config/crucible/agents/a.md": agentFile("a") } });
    expect(JSON.parse((await m.cru(["agents", "show", "a", "--json"])).stdout)).toMatchObject({ agent: { model: "sonnet", model_source: "default" } });
  });

  it("[CRU-12.2.4] shows a disabled agent as such", async () => {
    const m = machine({ project: { ".crucible/agents/a.md": agentFile("a", { enabled: "false" }) } });
    const { code, stdout } = await m.cru(["agents", "show", "a"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^enabled: false$/m);
  });

  it.each([
    ["an agent that is not there", "expore", "did you mean 'explore'?"],
    ["an agent whose file is broken", "broken", "its file has problems: `cru agents validate broken`"],
    ["nothing like any", "zzzzzzzz", "`cru agents list` shows those that can be used"],
  ])("exits 2 for %s and says what next", async (_, name, hint) => {
    const m = machine({ project: { ".crucible/agents/broken.md": "no frontmatter\n" } });
    const { code, stdout, stderr } = await m.cru(["agents", "show", name]);
    expect([code, stdout, stderr]).toEqual([2, "", `cru: agent not found: ${name}\n  → ${hint}\n`]);
    expect(JSON.parse((await m.cru(["agents", "show", name, "--json"])).stdout)).toEqual({ error: { code: "agent_not_found", message: `agent not found: ${name}`, hint } });
  });

  it("shows a hostile prompt inert", async () => {
    const m = machine({ project: { ".crucible/agents/a.md": agentFile("a", {}, "Hi \u001b[31mred\u001b[0m\u202E done") } });
    // oxlint-disable-next-line no-control-regex
    expect((await m.cru(["agents", "show", "a"])).stdout).not.toMatch(/[\u001b\u202e]/);
  });
});
