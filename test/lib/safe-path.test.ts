import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isProtected } from "../../src/lib/protected-path.ts";
import { locate, readInside, writeInside } from "../../src/lib/safe-path.ts";
import { runProgram, startProgram } from "../../src/lib/subprocess.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

const read = (folder: string, path: string) => readInside(folder, path, { maxBytes: 1000 });
const text = (folder: string, path: string) => {
  const result = read(folder, path);
  return result.ok ? result.bytes.toString() : result.code;
};

function twoFolders() {
  const outside = temporaryFolder();
  const inside = temporaryFolder();
  writeFiles(outside, { "secret.txt": "secret" });
  writeFiles(inside, { "a.txt": "a", "sub/b.txt": "b" });
  return { outside, inside };
}

describe("readInside", () => {
  it("reads relative and absolute paths, and links that stay inside", () => {
    const { inside } = twoFolders();
    symlinkSync("sub", join(inside, "link"));
    symlinkSync(join(inside, "sub", "b.txt"), join(inside, "absolute"));
    symlinkSync("../a.txt", join(inside, "sub", "up"));
    const paths = ["a.txt", "./sub/../a.txt", join(inside, "a.txt"), "sub/up", "link/up", "link/b.txt", "absolute"];
    expect(paths.map((path) => text(inside, path))).toEqual(["a", "a", "a", "a", "a", "b", "b"]);
  });

  it("refuses every way out", () => {
    const { inside, outside } = twoFolders();
    symlinkSync(outside, join(inside, "folder"));
    symlinkSync(join(outside, "secret.txt"), join(inside, "file"));
    symlinkSync("folder", join(inside, "twice"));
    symlinkSync("../".repeat(20) + outside.slice(1), join(inside, "sub", "dots"));
    symlinkSync("loop", join(inside, "loop"));
    const ways = [
      "../x", "sub/../../x", "/etc/passwd", "folder/secret.txt", "file", "twice/secret.txt", "sub/dots/secret.txt", `${inside}x/a`, "folder/../a.txt", "/proc/self/cwd/a.txt",
    ];
    expect(ways.filter((path) => text(inside, path) !== "outside")).toEqual([]);
    expect(text(inside, "loop")).toBe("loop");
    expect(text(inside, "a\0b")).toBe("invalid");
    expect(text(inside, "")).toBe("invalid");
    expect(text(inside, "a.txt/b")).toBe("not_a_folder");
    expect(text(inside, "none")).toBe("missing");
    expect(text(inside, "sub")).toBe("not_a_file");
    expect(text(inside, "n".repeat(300))).toBe("invalid");
  });

  it("does not wait for a pipe that nobody writes to", async () => {
    const { inside } = twoFolders();
    await runProgram("mkfifo", [join(inside, "pipe")], { env: { PATH: "/usr/bin:/bin" } });
    expect(text(inside, "pipe")).toBe("not_a_file");
    expect(writeInside(inside, "pipe", "x")).toMatchObject({ ok: false, code: "not_a_file" });
  });

  it("reads no more than asked and says the size", () => {
    const { inside } = twoFolders();
    writeFiles(inside, { big: "0123456789" });
    expect(readInside(inside, "big", { maxBytes: 4, from: 3 })).toMatchObject({ ok: true, size: 10, bytes: Buffer.from("3456") });
  });
});

describe("writeInside", () => {
  it("creates folders, replaces files and keeps their mode", () => {
    const { inside } = twoFolders();
    chmodSync(join(inside, "a.txt"), 0o751);
    expect(writeInside(inside, "a.txt", "new")).toEqual({ ok: true, path: "a.txt", created: false });
    expect(statSync(join(inside, "a.txt")).mode & 0o777).toBe(0o751);
    expect(writeInside(inside, "x/y/z.txt", "deep")).toEqual({ ok: true, path: "x/y/z.txt", created: true });
    expect(readFileSync(join(inside, "x/y/z.txt"), "utf8")).toBe("deep");
    expect(readdirSync(inside).filter((n) => n.endsWith(".tmp"))).toEqual([]);
  });

  it("writes through a link that stays inside and leaves the link", () => {
    const { inside } = twoFolders();
    symlinkSync("sub/b.txt", join(inside, "link"));
    expect(writeInside(inside, "link", "new")).toEqual({ ok: true, path: "sub/b.txt", created: false });
    expect(lstatSync(join(inside, "link")).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(inside, "sub/b.txt"), "utf8")).toBe("new");
  });

  it("never writes outside: links, dangling links, hard links", () => {
    const { inside, outside } = twoFolders();
    symlinkSync(join(outside, "secret.txt"), join(inside, "file"));
    symlinkSync(join(outside, "new.txt"), join(inside, "dangling"));
    symlinkSync(outside, join(inside, "folder"));
    linkSync(join(outside, "secret.txt"), join(inside, "hard"));
    const results = ["file", "dangling", "folder/new.txt", "folder/sub/new.txt", "../new.txt"].map((path) => writeInside(inside, path, "bad"));
    expect(results.filter((result) => result.ok || result.code !== "outside")).toEqual([]);
    expect(writeInside(inside, "hard", "mine")).toMatchObject({ ok: true });
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
  });

  it("does not replace a folder", () => {
    const { inside } = twoFolders();
    expect(writeInside(inside, "sub", "x")).toMatchObject({ ok: false, code: "not_a_file" });
    expect(writeInside(inside, ".", "x")).toMatchObject({ ok: false, code: "not_a_file" });
  });
});

describe("races", () => {
  it("a folder that is swapped for a link all the time lets nothing out and nothing in", async () => {
    const { inside, outside } = twoFolders();
    mkdirSync(join(inside, "real"));
    writeFiles(inside, { "real/secret.txt": "harmless" });
    const script = `const fs = require("fs"); const t = (f) => { try { f(); } catch {} }; process.stdout.write("ready");
      for (;;) {
        t(() => fs.renameSync("real", "d"));
        t(() => fs.renameSync("d", "real"));
        t(() => fs.symlinkSync(process.argv[1], "d"));
        t(() => fs.rmSync("d", { recursive: true }));
      }`;
    const swapper = startProgram(process.execPath, ["-e", script, outside], { env: {}, cwd: inside });
    await new Promise((resolve) => swapper.stdout?.once("data", resolve));
    const seen = new Set<string>();
    for (let i = 0; i < 3000; i++) {
      seen.add(text(inside, "d/secret.txt"));
      const wrote = writeInside(inside, "d/made.txt", "x");
      seen.add(wrote.ok ? "wrote" : wrote.code);
    }
    swapper.kill("SIGKILL");
    await swapper.ended;
    expect(seen).toContain("outside");
    expect(seen).toContain("wrote");
    expect(seen).not.toContain("secret");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
  });
});

describe("isProtected", () => {
  it("knows the protected paths by name, case, link and depth", () => {
    const { inside } = twoFolders();
    mkdirSync(join(inside, ".git", "hooks"), { recursive: true });
    mkdirSync(join(inside, "claude-config"));
    symlinkSync(".git", join(inside, "g"));
    symlinkSync("claude-config", join(inside, ".claude"));
    symlinkSync(".mcp.json", join(inside, "harmless.json"));
    const yes = [
      ".git/config", ".git", "./.git/x", "sub/../.git/x", ".GIT/config", ".Git/hooks/x", "g/hooks/pre-commit", "g", ".crucible/agents/x.md", ".coven/x", ".claude/settings.json", "claude-config/settings.json", ".mcp.json", ".beads/issues.jsonl", "sub/.git/config", join(inside, ".git/config"), ".g\u200cit/config", "GIT~1/config", ".git./config", "harmless.json",
    ];
    expect(yes.filter((path) => !isProtected(inside, path))).toEqual([]);
    const no = ["a.txt", "sub/b.txt", ".github/workflows/x.yml", ".gitignore", "git/x", "sub/.claude.md", ".mcp.json.bak"];
    expect(no.filter((path) => isProtected(inside, path))).toEqual([]);
  });
});

describe("locate", () => {
  it("says where a path leads and what is there", () => {
    const { inside } = twoFolders();
    symlinkSync("sub", join(inside, "link"));
    expect(locate(inside, "link/b.txt")).toEqual({ ok: true, path: "sub/b.txt", kind: "file" });
    expect(locate(inside, "link")).toEqual({ ok: true, path: "sub", kind: "folder" });
    expect(locate(inside, ".")).toEqual({ ok: true, path: ".", kind: "folder" });
    expect(locate(inside, "link/none")).toEqual({ ok: true, path: "sub/none", kind: "missing" });
    expect(locate(inside, "no/such/thing")).toEqual({ ok: true, path: "no/such/thing", kind: "missing" });
    expect(existsSync(join(inside, "no"))).toBe(false);
    writeFileSync(join(inside, "x"), "");
  });
});
