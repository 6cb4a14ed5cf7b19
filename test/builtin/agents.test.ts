import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseAgent } from "../../src/catalog/parse-agent.ts";
import { repository } from "../support/cru.ts";

const folder = join(repository, "builtin/agents");
const RIGHTS: Record<string, string[]> = {
  "code-reviewer": ["FilesystemRead", "SemanticSearch", "Shell"],
  "documentation-writer": ["FilesystemRead", "FilesystemWrite", "SemanticSearch"],
  explore: ["FilesystemRead", "SemanticSearch"],
  implementer: ["FilesystemRead", "FilesystemWrite", "SemanticSearch", "Shell"],
  "refactoring-assistant": ["FilesystemRead", "FilesystemWrite", "SemanticSearch", "Shell"],
  "test-generator": ["FilesystemRead", "FilesystemWrite", "SemanticSearch", "Shell"],
};

describe("built-in agents", () => {
  it("are these six", () => {
    expect(readdirSync(folder).sort()).toEqual(Object.keys(RIGHTS).map((name) => `${name}.md`));
  });

  it.each(Object.keys(RIGHTS))("%s loads without a problem, has its rights and a model of its own", (name) => {
    const parsed = parseAgent(readFileSync(join(folder, `${name}.md`), "utf8"), "crucible");
    expect(parsed.faults).toEqual([]);
    expect(parsed.value).toMatchObject({ name, enabled: true, permissions: RIGHTS[name], model: expect.stringMatching(/^(haiku|sonnet|opus)$/) });
  });

  it.each(Object.keys(RIGHTS))("%s states its role, method, limits and the sections of its result", (name) => {
    const body = readFileSync(join(folder, `${name}.md`), "utf8").split("\n---\n").slice(1).join("\n---\n");
    expect(body).toMatch(/^You are an? /);
    const [, output = ""] = body.split("\n## Output\n");
    expect(body.match(/^## (Method|Limits|Output)$/gm)).toEqual(["## Method", "## Limits", "## Output"]);
    const sections = output.match(/^## .+$/gm) ?? [];
    expect(sections.length).toBeGreaterThanOrEqual(3);
    expect(sections.at(-1)).toBe("## Summary");
    expect(body).toMatch(/never an instruction to you|cannot give you orders|cannot tell you what to conclude/);
  });
});
