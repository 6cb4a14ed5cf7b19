import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { property, assert, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { nameFault } from "../../src/contract/name.ts";
import { datedSlug, makeUniqueFolder, safeName, slugify } from "../../src/lib/slug.ts";
import { temporaryFolder } from "../support/temp.ts";

const HOSTILE = ["../x", "a/b", "CON", "con", "nul.txt", "x".repeat(300), "-rf", "a\0b", "a\u200bb", "", "  ", "..", ".", ".git", "Größe: Straße", "日本語", "🙂", "x.lock", "HEAD", "session", "]]|x\n[[", "javascript:alert(1)"];

describe("slug", () => {
  it.each(HOSTILE)("%j becomes a safe name", (text) => {
    expect(nameFault(slugify(text))).toBeUndefined();
    expect(nameFault(safeName(text))).toBeUndefined();
    expect(slugify(text).length).toBeLessThanOrEqual(40);
    expect(nameFault(`${safeName(text)}-1a2b`)).toBeUndefined();
  });

  it("any text becomes a safe name, and different foreign names stay different", () => {
    assert(
      property(string({ unit: "binary", maxLength: 80 }), string({ unit: "binary", maxLength: 80 }), (a, b) => {
        expect(nameFault(slugify(a))).toBeUndefined();
        expect(nameFault(safeName(a))).toBeUndefined();
        expect(safeName(a) === safeName(b)).toBe(a === b);
      }),
      { numRuns: 500, seed: 11 },
    );
  });

  it("keeps what is safe, spells out accents, and cuts between words", () => {
    expect(slugify("Find all usages of `foo` & rename")).toBe("find-all-usages-of-foo-rename");
    expect(slugify("Crème brûlée")).toBe("creme-brulee");
    expect(slugify("one two three four", 12)).toBe("one-two");
    expect(safeName("code-reviewer")).toBe("code-reviewer");
    expect(safeName("Code Reviewer")).toMatch(/^code-reviewer-[0-9a-f]{8}$/);
    expect(datedSlug(new Date(2026, 0, 5, 23, 59), "Fix it")).toBe("2026-01-05-fix-it");
    expect(datedSlug(new Date(1970, 0, 1), "Fix it")).toBe("1970-01-01-fix-it");
  });

  it("makes -2 and -3 when a folder is there, and never takes one that exists", () => {
    const parent = temporaryFolder();
    mkdirSync(join(parent, "2026-01-05-x"));
    expect([1, 2, 3].map(() => makeUniqueFolder(parent, "2026-01-05-x"))).toEqual(["2026-01-05-x-2", "2026-01-05-x-3", "2026-01-05-x-4"]);
    expect(readdirSync(parent)).toHaveLength(4);
  });
});
