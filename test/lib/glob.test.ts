import { describe, expect, it } from "vitest";
import { glob } from "../../src/lib/glob.ts";

const yes = [
  ["*.ts", "a.ts"], ["**/*.ts", "a.ts"], ["**/*.ts", "x/y/a.ts"], ["src/**", "src/a/b"], ["src/**/b.ts", "src/b.ts"], ["src/**/b.ts", "src/x/y/b.ts"], ["./a.ts", "a.ts"],
  ["a?c", "abc"], ["[a-c].md", "b.md"], ["[!a-c].md", "d.md"], ["*.{ts,js}", "a.js"], ["{a,b/{c,d}}/x", "b/d/x"], ["**", "a/b"], [".github/**/*.yml", ".github/w/x.yml"], ["**/.env", "a/.env"],
  ["a*b*c", "aXbXbXc"], [String.raw`a\*`, "a*"], ["*", "größe"],
] as const;
const no = [
  ["*.ts", "x/a.ts"], ["**/*.ts", "a.js"], ["src/*", "src/a/b"], ["*", ".env"], ["**/*.yml", ".github/w/x.yml"], ["a?c", "ac"], ["[a-c].md", "d.md"], ["a/b", "a"], ["a", "a/b"],
] as const;

describe("glob", () => {
  it("matches as people expect", () => {
    expect(yes.filter(([pattern, path]) => glob(pattern)?.(path) !== true)).toEqual([]);
    expect(no.filter(([pattern, path]) => glob(pattern)?.(path) !== false)).toEqual([]);
  });

  it("does not hang on patterns made to hang, and refuses those that explode", () => {
    expect(glob(`${"*a".repeat(200)}b`)?.("a".repeat(2000))).toBe(false);
    expect(glob(`${"**/".repeat(200)}b`)?.("a/".repeat(500))).toBe(false);
    expect(glob("{a,b}".repeat(40))).toBeUndefined();
    expect(glob("x".repeat(2000))).toBeUndefined();
  });
});
