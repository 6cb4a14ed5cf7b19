import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findPaths, type Paths } from "../../src/config/paths.ts";
import { sha256 } from "../../src/lib/sha256.ts";
import { openTrust, requireTrusted } from "../../src/trust/open-trust.ts";
import { scanProject } from "../../src/trust/scan.ts";
import { trustFiles } from "../../src/trust/trust-files.ts";
import { repository } from "../support/cru.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

const FILES = {
  ".crucible/agents/a.md": "agent a",
  ".crucible/agents/deep/b.md": "agent b",
  ".crucible/config.yaml": "model: opus\n",
  ".coven/grimoires/g.yaml": "name: g",
  ".coven/spells/s.md": "spell",
  ".coven/prompts/p.md": "prompt",
  ".coven/system-prompt.md": "{{.spell_content}}",
  ".claude/agents/c.md": "claude agent",
  ".mcp.json": "{}",
};

function project(files: Record<string, string> = FILES): Paths & { env: { HOME: string } } {
  const base = temporaryFolder();
  mkdirSync(join(base, "home"));
  writeFiles(join(base, "project"), { ".crucible/keep": "", ...files });
  const env = { HOME: join(base, "home") };
  return { ...findPaths(join(base, "project"), env), env };
}

function trustAll(paths: Paths): Promise<void> {
  return trustFiles(paths, scanProject(paths).files.map((f) => ({ path: join(paths.root, f.name), content: f.content })));
}

const at = (paths: Paths, name: string): string => join(paths.root, name);

describe("openTrust", () => {
  it("a fresh clone is not trusted, file by file", () => {
    const paths = project();
    const trust = openTrust(paths, paths.env);
    expect(trust.projectTrusted).toBe(false);
    expect(trust.changes()).toEqual(Object.keys(FILES).sort().map((path) => ({ path, kind: "added" })));
    for (const [name, text] of Object.entries(FILES)) expect(trust.isTrusted(at(paths, name), sha256(text))).toBe(false);
  });

  it("trust is bound to the bytes: one changed byte of one file loses it for that file only", async () => {
    const paths = project();
    await trustAll(paths);
    expect(openTrust(paths, paths.env).projectTrusted).toBe(true);
    writeFileSync(at(paths, ".crucible/agents/a.md"), "agent A");
    const trust = openTrust(paths, paths.env);
    expect(trust.projectTrusted).toBe(false);
    expect(trust.changes()).toEqual([{ path: ".crucible/agents/a.md", kind: "changed" }]);
    expect(trust.isTrusted(at(paths, ".crucible/agents/a.md"), sha256("agent A"))).toBe(false);
    expect(trust.isTrusted(at(paths, ".crucible/agents/a.md"), sha256("agent a"))).toBe(true);
    expect(trust.isTrusted(at(paths, ".coven/spells/s.md"), sha256("spell"))).toBe(true);
  });

  it("the same bytes under another name are not trusted", async () => {
    const paths = project();
    await trustAll(paths);
    expect(openTrust(paths, paths.env).isTrusted(at(paths, ".crucible/agents/z.md"), sha256("agent a"))).toBe(false);
  });

  it("a file that goes away is told and takes nothing else with it", async () => {
    const paths = project();
    await trustAll(paths);
    rmSync(at(paths, ".mcp.json"));
    const trust = openTrust(paths, paths.env);
    expect(trust.changes()).toEqual([{ path: ".mcp.json", kind: "removed" }]);
    expect(trust.projectTrusted).toBe(true);
  });

  it("a moved project needs trust again", async () => {
    const paths = project();
    await trustAll(paths);
    const moved = `${paths.root}-moved`;
    renameSync(paths.root, moved);
    expect(openTrust(findPaths(moved, paths.env), paths.env).projectTrusted).toBe(false);
  });

  it.each([
    ["not JSON", () => "{"],
    ["null", () => "null"],
    ["a list", () => "[]"],
    ["another version", (m: string) => m.replace('"v": 1', '"v": 2')],
    ["another root", (m: string) => m.replace('"root": "', '"root": "/elsewhere')],
    ["files as a list", (m: string) => m.replace(/"files": \{[^}]*\}/, '"files": []')],
    ["a hash that is none", (m: string) => m.replace(/"[0-9a-f]{64}"/, '"*"')],
    ["no time", (m: string) => m.replace("trusted_at", "at")],
  ])("a damaged manifest (%s) trusts nothing", async (_, damage: (manifest: string) => string) => {
    const paths = project();
    await trustAll(paths);
    const file = join(paths.user.trust, readdirSync(paths.user.trust)[0] ?? "", "manifest.json");
    const before = readFileSync(file, "utf8");
    writeFileSync(file, damage(before));
    expect(readFileSync(file, "utf8")).not.toBe(before);
    const trust = openTrust(paths, paths.env);
    expect(trust.projectTrusted).toBe(false);
    expect(trust.isTrusted(at(paths, ".mcp.json"), sha256("{}"))).toBe(false);
  });

  it("CRU_TRUST=1 and --trust trust everything for this process and leave nothing behind", () => {
    const paths = project();
    for (const trust of [openTrust(paths, { ...paths.env, CRU_TRUST: "1" }), openTrust(paths, paths.env, { trust: true })]) {
      expect(trust.projectTrusted).toBe(true);
      expect(trust.isTrusted(at(paths, ".mcp.json"), sha256("anything"))).toBe(true);
    }
    for (const value of ["0", "", "no", "false"]) expect(openTrust(paths, { ...paths.env, CRU_TRUST: value }).projectTrusted).toBe(false);
    expect(statSync(paths.user.trust, { throwIfNoEntry: false })).toBeUndefined();
  });

  it("what the user or the package wrote needs no trust; nothing else outside the project is trusted", () => {
    const paths = project();
    const trust = openTrust(paths, paths.env);
    for (const path of [join(paths.user.agents, "x.md"), join(paths.user.claudeAgents, "x.md"), join(paths.builtin.agents, "x.md"), paths.user.config]) {
      expect(trust.isTrusted(path, sha256(""))).toBe(true);
    }
    for (const path of ["/etc/x.md", `${paths.user.agents}/../x.md`, `${paths.user.agents}-evil/x.md`, paths.user.agents]) {
      expect(trust.isTrusted(path, sha256(""))).toBe(false);
    }
  });

  it("names like __proto__ and constructor are names", async () => {
    const paths = project({ ".crucible/agents/__proto__": "p", "__proto__": "x" });
    expect(openTrust(paths, paths.env).isTrusted(at(paths, "constructor"), sha256("x"))).toBe(false);
    await trustAll(paths);
    expect(openTrust(paths, paths.env).isTrusted(at(paths, ".crucible/agents/__proto__"), sha256("p"))).toBe(true);
  });

  it("the state folder is the user's alone, whatever the umask", async () => {
    const paths = project();
    const before = process.umask(0);
    try {
      await trustAll(paths);
    } finally {
      process.umask(before);
    }
    const mode = (path: string): number => statSync(path).mode & 0o777;
    const folder = join(paths.user.trust, readdirSync(paths.user.trust)[0] ?? "");
    expect([paths.user.trust, folder, join(folder, "blobs")].map(mode)).toEqual([0o700, 0o700, 0o700]);
    expect(mode(join(folder, "manifest.json"))).toBe(0o600);
    for (const blob of readdirSync(join(folder, "blobs"))) expect(mode(join(folder, "blobs", blob))).toBe(0o600);
  });
});

describe("the way to openTrust", () => {
  it("loads neither schemas nor a YAML reader, since every list goes it", () => {
    const seen = new Set<string>();
    const visit = (path: string): void => {
      if (seen.has(path)) return;
      seen.add(path);
      if (!path.endsWith(".ts")) return;
      for (const [, typeOnly, from = ""] of readFileSync(path, "utf8").matchAll(/^import (type )?[^;]*?from "([^"]+)"/gm)) {
        if (typeOnly === undefined) visit(from.startsWith(".") ? join(path, "..", from) : from);
      }
    };
    visit(join(repository, "src/trust/open-trust.ts"));
    expect([...seen].filter((path) => !path.endsWith(".ts")).sort()).toEqual(["node:fs", "node:path"]);
  });
});

describe("requireTrusted", () => {
  it("ends with exit code 4 and says what to do", () => {
    const paths = project();
    const path = at(paths, ".crucible/agents/a.md");
    const definition = { path, hash: sha256("agent a"), what: "agent 'a'" };
    expect(() => requireTrusted(openTrust(paths, paths.env), definition)).toThrow(
      expect.objectContaining({ code: "untrusted", exitCode: 4, hint: expect.stringContaining("cru trust") as string }),
    );
    expect(() => requireTrusted(openTrust(paths, paths.env, { trust: true }), definition)).not.toThrow();
  });
});

describe("scanProject", () => {
  it("hashes what a link leads to inside the project and refuses what leads out of it", () => {
    const paths = project({ "shared/x.md": "shared" });
    const outside = temporaryFolder();
    writeFiles(outside, { "secret.md": "secret", "folder/s.md": "secret" });
    const agents = at(paths, ".crucible/agents");
    mkdirSync(agents);
    symlinkSync("../../shared/x.md", join(agents, "inside.md"));
    symlinkSync(join(outside, "secret.md"), join(agents, "outside.md"));
    symlinkSync(join(outside, "folder"), join(agents, "out-folder"));
    symlinkSync("../../shared", join(agents, "in-folder"));
    symlinkSync(".", join(agents, "loop"));
    symlinkSync("nowhere", join(agents, "dangling.md"));
    symlinkSync(join(outside, "folder"), at(paths, ".claude"));
    execFileSync("mkfifo", [join(agents, "pipe.md")]);
    writeFileSync(join(agents, "big.md"), Buffer.alloc(1024 * 1024 + 1));
    const scan = scanProject(paths);
    expect(scan.files.map((f) => [f.name, f.sha256])).toEqual([
      [".crucible/agents/in-folder/x.md", sha256("shared")],
      [".crucible/agents/inside.md", sha256("shared")],
    ]);
    expect(Object.fromEntries(scan.refused.map((r) => [r.name, r.reason]))).toEqual({
      ".crucible/agents/outside.md": "a link that leaves the project",
      ".crucible/agents/out-folder": "a link that leaves the project",
      ".crucible/agents/loop": "a link to a folder above it",
      ".crucible/agents/dangling.md": "a link to nothing",
      ".crucible/agents/pipe.md": "not a file",
      ".crucible/agents/big.md": "larger than 1 MB",
    });
  });

  it("refuses a whole folder of definitions that leads out of the project", () => {
    const paths = project({});
    const outside = temporaryFolder();
    writeFiles(outside, { "agents/s.md": "secret" });
    symlinkSync(outside, at(paths, ".claude"));
    expect(scanProject(paths)).toEqual({ files: [], refused: [{ name: ".claude/agents", reason: "a link that leaves the project" }] });
  });

  it("a clone that is nothing but definitions does not fill the memory", () => {
    const paths = project({});
    const block = Buffer.alloc(1024 * 1024);
    mkdirSync(paths.project.agents);
    for (let i = 10; i < 76; i++) writeFileSync(join(paths.project.agents, `${i}.md`), block);
    const scan = scanProject(paths);
    expect(scan.files).toHaveLength(64);
    expect(scan.refused).toEqual([74, 75].map((i) => ({ name: `.crucible/agents/${i}.md`, reason: "more than 64 MB of definitions" })));
  });

  it("sessions, inbox, cache, logs and worktrees are no part of it", () => {
    const paths = project({
      ".crucible/sessions/s/session.md": "x", ".crucible/inbox/i.json": "x", ".crucible/cache/c": "x", ".coven/logs/workflows/l.jsonl": "x",
      ".coven/worktrees/w/.crucible/agents/a.md": "x", ".coven/requests/r": "x", ".env": "x", ".claude/settings.json": "{}",
    });
    expect(scanProject(paths)).toEqual({ files: [], refused: [] });
  });
});
