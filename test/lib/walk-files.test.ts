import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { walkFiles } from "../../src/lib/walk-files.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

describe("walkFiles", () => {
  it("names the same files as git does", () => {
    const folder = temporaryFolder();
    writeFiles(folder, {
      ".gitignore": "*.log\n/build/\n!keep.log\n# note\ndocs/*.tmp\nout/\n**/deep/x\n\\!bang\n",
      "a.ts": "", "x.log": "", "keep.log": "", "build/a": "", "sub/build/a": "", "docs/a.tmp": "", "docs/b/a.tmp": "", "sub/out/a": "", "p/deep/x": "", "!bang": "",
      "sub/.gitignore": "*.ts\n!b.ts\n", "sub/a.ts": "", "sub/b.ts": "", ".hidden/x": "", "node_modules/m/a.js": "", "größe.txt": "",
    });
    execFileSync("git", ["init", "-q", folder]);
    writeFiles(folder, { ".git/info/exclude": "secret\n", secret: "" });
    const git = execFileSync("git", ["-C", folder, "ls-files", "-co", "--exclude-standard", "-z"], { encoding: "utf8" }).split("\0").filter((p) => p !== "" && !p.startsWith("node_modules/"));
    expect([...walkFiles(folder)].toSorted()).toEqual(git.toSorted());
    expect([...walkFiles(folder, "sub")].toSorted()).toEqual(git.filter((p) => p.startsWith("sub/")).toSorted());
  });

  it("does not follow links", () => {
    const [folder, outside] = [temporaryFolder(), temporaryFolder()];
    writeFiles(outside, { secret: "" });
    writeFiles(folder, { a: "" });
    symlinkSync(outside, join(folder, "link"));
    symlinkSync(".", join(folder, "loop"));
    expect([...walkFiles(folder)]).toEqual(["a", "link", "loop"]);
    expect([...walkFiles(folder, "link")]).toEqual([]);
  });
});
