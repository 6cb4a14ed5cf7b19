import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { machine } from "../support/cru.ts";

const NOTES = {
  ".crucible/config.yaml": "model: opus\n",
  "docs/deploy.md": "# Deploying\n\n## Rollback\nReturn to the previous image with one command.\n",
  "docs/ledger.md": "# The ledger\nDouble entry bookkeeping.\n",
};

describe("cru notes", () => {
  it("search gives one row a note, best first, also where nothing is trusted", async () => {
    const { cru, project } = machine({ project: NOTES });
    const { code, stdout } = await cru(["notes", "search", "go back to the earlier version", "--json"]);
    expect(code).toBe(0);
    const { results } = JSON.parse(stdout) as { results: { path: string; score: number }[] };
    expect(results[0]).toMatchObject({ path: "docs/deploy.md", heading: "Rollback", line: 3, snippet: "Return to the previous image with one command." });
    expect(new Set(results.map((row) => row.path)).size).toBe(results.length);
    expect(results.map((row) => row.score)).toEqual(results.map((row) => row.score).sort((a, b) => b - a));
    expect(existsSync(join(project, ".crucible", "cache"))).toBe(false);
  });

  it("search in plain form is a line a note, fields between tabs", async () => {
    const { cru } = machine({ project: NOTES });
    const { stdout } = await cru(["notes", "search", "double", "entry", "--limit", "1"]);
    expect(stdout).toMatch(/^docs\/ledger\.md:1\t[01]\.\d{3}\tThe ledger\tDouble entry bookkeeping\.\n$/);
  });

  it("shows what notes say without letting it act on the terminal", async () => {
    const { cru } = machine({ project: { "evil.md": "# Evil \u001b]0;owned\u0007\nxylophone \u001b[2J\u202e text\n" } });
    for (const args of [["notes", "search", "xylophone"], ["notes", "search", "xylophone", "--json"]]) {
      const { code, stdout } = await cru(args);
      expect(code).toBe(0);
      expect(stdout).toContain("xylophone");
      // oxlint-disable-next-line no-control-regex
      expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/);
    }
  });

  it("index says what changed", async () => {
    const { cru, project, home } = machine({ project: NOTES });
    expect((await cru(["notes", "index"])).stdout).toBe("2 notes: 2 added, 0 changed, 0 removed\n");
    expect(JSON.parse((await cru(["notes", "index", "--json"])).stdout)).toMatchObject({ notes: 2, added: 0, changed: 0, removed: 0, skipped: 0 });
    expect(existsSync(join(home, ".cache", "crucible", "kiln"))).toBe(true);
    expect(existsSync(join(project, ".crucible", "cache"))).toBe(false);
  });

  it("finds nothing with success, and refuses what makes no sense", async () => {
    const { cru } = machine({ project: NOTES });
    expect(await cru(["notes", "search", "qzxqzx"])).toMatchObject({ code: 0, stdout: "", stderr: "no note is about this\n" });
    expect(JSON.parse((await cru(["notes", "search", "qzxqzx", "--json"])).stdout)).toEqual({ results: [] });
    for (const args of [["notes", "search"], ["notes", "search", " "], ["notes", "search", "x", "--limit", "0"], ["notes", "search", "x", "--limit", "many"]]) {
      expect((await cru(args)).code).toBe(2);
    }
    expect((await machine().cru(["notes", "search", "x"])).stderr).toContain("there are no notes here");
  });
});
