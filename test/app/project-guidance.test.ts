import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectGuidance } from "../../src/app/project-guidance.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

describe("project guidance", () => {
  it("is CLAUDE.md, else AGENTS.md, else nothing", () => {
    const folder = temporaryFolder();
    expect(projectGuidance(folder)).toBe("");
    writeFiles(folder, { "AGENTS.md": "from agents" });
    expect(projectGuidance(folder)).toBe("from agents");
    writeFiles(folder, { "CLAUDE.md": "from claude" });
    expect(projectGuidance(folder)).toBe("from claude");
  });

  it("takes imports inside the project, once each, and leaves the rest as written", () => {
    const folder = temporaryFolder();
    writeFiles(folder, {
      "CLAUDE.md": "top\n@docs/a.md\n```\n@docs/a.md\n```\nmail me@docs/a.md",
      "docs/a.md": "A\n@../CLAUDE.md\n@b.md",
      "docs/b.md": "B",
    });
    expect(projectGuidance(folder)).toBe("top\nA\n@../CLAUDE.md\nB\n```\n@docs/a.md\n```\nmail me@docs/a.md");
  });

  it("never reads outside, neither by path nor by link", () => {
    const base = temporaryFolder();
    writeFiles(base, { "secret.md": "SECRET", "project/CLAUDE.md": `@../secret.md\n@${join(base, "secret.md")}\n@link.md` });
    symlinkSync(join(base, "secret.md"), join(base, "project", "link.md"));
    expect(projectGuidance(join(base, "project"))).not.toContain("SECRET");
  });
});
