import { chmodSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findProgram, foldersOfPrograms } from "../../src/lib/find-program.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

function place(files: string[]): { base: string; at(path: string): string } {
  const base = temporaryFolder();
  writeFiles(base, Object.fromEntries(files.map((file) => [file, "#!/bin/sh\n"])));
  for (const file of files) chmodSync(join(base, file), 0o755);
  return { base, at: (path) => join(base, path) };
}

describe("finding a program", () => {
  it("takes the first on PATH that is a file and may be run; folders, relative folders and files that may not be run are passed over", () => {
    const { at } = place(["b/tool", "c/tool"]);
    writeFiles(at("d"), { tool: "" });
    mkdirSync(at("a/tool"), { recursive: true });
    expect(findProgram("tool", { path: `${at("a")}:b:.::${at("d")}:${at("b")}:${at("c")}` })).toBe(at("b/tool"));
    expect(findProgram("other", { path: at("b") })).toBeUndefined();
    expect(findProgram("tool", { path: undefined })).toBeUndefined();
  });

  it("never takes one that lies, or leads, where it must not", () => {
    const { at } = place(["work/bin/tool", "safe/tool"]);
    mkdirSync(at("links"));
    symlinkSync(at("work/bin/tool"), at("links/tool"));
    expect(findProgram("tool", { path: [at("work/bin"), at("links"), at("safe")].join(":"), notBelow: at("work") })).toBe(at("safe/tool"));
    expect(findProgram(at("work/bin/tool"), { path: "", notBelow: at("work") })).toBeUndefined();
  });

  it("a path is relative to the base only, and finds nothing without one", () => {
    const { base, at } = place(["x/tool"]);
    expect(findProgram("./x/tool", { path: base, base })).toBe(at("x/tool"));
    expect(findProgram("x/tool", { path: base })).toBeUndefined();
  });

  it("shows the packages that programs belong to, and never a home, a workspace or a folder of everybody", () => {
    const { at } = place(["home/lib/node_modules/tool/dist/main.js", "home/script.sh", "home/own/package.json", "home/own/src/a.js", "home/project/b.js"]);
    const where = { workspace: at("home/project"), home: at("home") };
    mkdirSync(at("bin"));
    symlinkSync(at("home/lib/node_modules/tool/dist/main.js"), at("bin/tool"));
    expect(foldersOfPrograms([at("bin/tool")], where)).toEqual([at("bin"), at("home/lib/node_modules")]);
    expect(foldersOfPrograms([at("home/own/src/a.js")], where)).toEqual([at("home/own")]);
    expect(foldersOfPrograms([at("home/script.sh"), at("home/project/b.js"), "/usr/bin/env"], where)).toEqual([at("home/script.sh")]);
  });
});
