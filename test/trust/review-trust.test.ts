import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findPaths, type Paths } from "../../src/config/paths.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { openTrust } from "../../src/trust/open-trust.ts";
import { acceptReview, reviewTrust } from "../../src/trust/review-trust.ts";
import { machine } from "../support/cru.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

function project(): Paths {
  const base = temporaryFolder();
  mkdirSync(join(base, "home"));
  writeFiles(join(base, "project"), { ".crucible/agents/a.md": "a", ".coven/spells/s.md": "s" });
  return findPaths(join(base, "project"), { HOME: join(base, "home") });
}

describe("acceptReview", () => {
  it.each([
    ["changes", (p: Paths) => writeFileSync(join(p.project.agents, "a.md"), "b")],
    ["is added", (p: Paths) => writeFileSync(join(p.project.agents, "b.md"), "b")],
    ["is removed", (p: Paths) => rmSync(join(p.project.agents, "a.md"))],
    ["is added in another place", (p: Paths) => writeFileSync(p.project.mcp, "{}")],
  ])("trusts nothing when a file %s between showing and accepting", async (_, change) => {
    const paths = project();
    const review = reviewTrust(paths);
    change(paths);
    await expect(acceptReview(paths, review)).rejects.toThrow(expect.objectContaining({ code: "untrusted", exitCode: 4 }));
    expect(openTrust(paths, {}).projectTrusted).toBe(false);
    expect(reviewTrust(paths).files.every((f) => f.status === "new")).toBe(true);
  });

  it("trusts what was shown when nothing changed", async () => {
    const paths = project();
    await acceptReview(paths, reviewTrust(paths));
    expect(openTrust(paths, {}).projectTrusted).toBe(true);
    expect(reviewTrust(paths)).toMatchObject({ trusted: true });
  });

  it("loses nothing when several commands trust what they wrote at the same time", async () => {
    const box = machine();
    await box.cru(["init"]);
    const names = Array.from({ length: 8 }, (_, i) => `agent-${i}`);
    const done = await Promise.all(names.map((name) => box.cru(["agents", "new", name])));
    expect(done.map(({ code }) => code)).toEqual(names.map(() => 0));
    const { agents } = JSON.parse((await box.cru(["agents", "list", "--json"])).stdout) as { agents: { name: string; trusted: boolean }[] };
    expect(agents.filter(({ name, trusted }) => names.includes(name) && trusted).map(({ name }) => name)).toEqual(names);
  });

  it("shows a changed file without a diff when the kept copy is damaged", async () => {
    const paths = project();
    await acceptReview(paths, reviewTrust(paths));
    writeFileSync(join(paths.project.agents, "a.md"), "b");
    expect(reviewTrust(paths).files[1]).toMatchObject({ status: "changed", before: Buffer.from("a") });
    const [folder = ""] = readdirSync(paths.user.trust);
    writeFileSync(join(paths.user.trust, folder, "blobs", sha256("a")), "not a");
    expect(reviewTrust(paths).files[1]).toEqual({ path: ".crucible/agents/a.md", status: "changed", sha256: sha256("b"), content: Buffer.from("b") });
  });
});
