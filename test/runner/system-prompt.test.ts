import { describe, expect, it } from "vitest";
import { findPaths } from "../../src/config/paths.ts";
import { composePrompt, loadSystemPrompt } from "../../src/runner/system-prompt.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

const project = (own?: string) => {
  const root = temporaryFolder();
  writeFiles(root, { ".coven/x": "", ...(own === undefined ? {} : { ".coven/system-prompt.md": own }) });
  return findPaths(root, { HOME: "/nonexistent" });
};

describe("the system prompt around a spell", () => {
  it("[EXE-9.1.1] [EXE-9.1.2] [EXE-9.1.3] the built-in one holds the spell, the hand-off and the output contract", () => {
    const prompt = composePrompt(loadSystemPrompt(project()), { spellContent: "SPELL {{.bead.title}} as it is", context: { bead: { title: "t" }, handoff: "step one did it" } });
    expect(prompt).toContain("SPELL {{.bead.title}} as it is");
    expect(prompt).toContain("step one did it");
    for (const field of ["success", "summary", "outputs", "error", "```json"]) expect(prompt).toContain(field);
    expect(composePrompt(loadSystemPrompt(project()), { spellContent: "x", context: {} })).not.toContain("earlier steps");
  });

  it("[EXE-9.2.1] the project's own is used instead, with the values of the workflow", () => {
    const template = loadSystemPrompt(project("For {{.bead.id}}:\n{{.spell_content}}\nEnd."));
    expect(composePrompt(template, { spellContent: "do it", context: { bead: { id: "b-1" } } })).toBe("For b-1:\ndo it\nEnd.");
  });

  it.each(["Just do it.", "{{if .spell_content}}yes{{end}}", "{{.spell}}", "\\{{ spell_content }}"])("[EXE-9.2.2] without a place for the spell it is an invalid definition: %s", (own) => {
    expect(() => loadSystemPrompt(project(own))).toThrow(/where the spell goes|system-prompt.md/);
  });
});
