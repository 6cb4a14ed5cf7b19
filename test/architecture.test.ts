import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { architectureFaults, IMPORT_ORDER } from "./support/architecture.ts";
import { repository } from "./support/cru.ts";
import { temporaryFolder, writeFiles } from "./support/temp.ts";

describe("architecture", () => {
  it("the sources keep the import order, have no cycle, no barrel and no long file", () => {
    expect(architectureFaults(join(repository, "src"))).toEqual([]);
  });

  it("AGENTS.md shows the import order that is tested", () => {
    const written = IMPORT_ORDER.map((row) => (row.length === 1 ? row[0] : `{${row.join(" ")}}`)).join(" ← ");
    expect(readFileSync(join(repository, "AGENTS.md"), "utf8")).toContain(written);
  });

  it.each([
    ["an import to the right", { "lib/a.ts": 'import { b } from "../app/b.ts";\n', "app/b.ts": "export const b = 1;\n" }, "lib may not see app"],
    ["a lazy import to the right", { "lib/a.ts": 'await import("../app/b.ts");\n', "app/b.ts": "export const b = 1;\n" }, "lib may not see app"],
    ["a type import to the right", { "lib/a.ts": 'import type { B } from "../app/b.ts";\n', "app/b.ts": "export type B = 1;\n" }, "lib may not see app"],
    ["an import between neighbours", { "llm/a.ts": 'import { b } from "../kiln/b.ts";\n', "kiln/b.ts": "export const b = 1;\n" }, "llm may not see kiln"],
    ["a cycle", { "lib/a.ts": 'import { b } from "./b.ts";\n', "lib/b.ts": 'import { a } from "./a.ts";\n' }, "import cycle: lib/a.ts → lib/b.ts → lib/a.ts"],
    ["a barrel", { "lib/index.ts": 'export * from "./a.ts";\nexport { b } from "./b.ts";\n', "lib/a.ts": "", "lib/b.ts": "" }, "only re-exports"],
    ["a long file", { "lib/a.ts": "let x = 1;\n".repeat(401) }, "has 401 lines"],
    ["an unknown folder", { "utils/a.ts": "export const a = 1;\n" }, "does not know"],
    ["a program started elsewhere", { "app/a.ts": 'import { spawn } from "node:child_process";\n' }, "starts programs itself"],
  ])("finds %s", (_, files, fault) => {
    const folder = temporaryFolder();
    writeFiles(folder, files);
    expect(architectureFaults(folder).join("\n")).toContain(fault);
  });
});
