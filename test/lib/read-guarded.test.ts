import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readGuarded } from "../../src/lib/read-guarded.ts";
import { agentFile, agentWorld } from "../support/agents.ts";
import { temporaryFolder } from "../support/temp.ts";

const buffer = Buffer.alloc(1024 + 1);

describe("readGuarded", () => {
  it("reads a file up to the size of the buffer, and no further", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "a"), "x".repeat(1024));
    writeFileSync(join(folder, "b"), "x".repeat(1025));
    writeFileSync(join(folder, "empty"), "");
    expect(readGuarded(join(folder, "a"), folder, buffer)).toMatchObject({ ok: true, bytes: expect.objectContaining({ length: 1024 }) });
    expect(readGuarded(join(folder, "b"), folder, buffer)).toMatchObject({ ok: false, fault: "file.too_large" });
    expect(readGuarded(join(folder, "empty"), folder, buffer)).toMatchObject({ ok: true, bytes: expect.objectContaining({ length: 0 }) });
  });

  it.each([
    ["a folder", "dir", "file.not_a_file"], ["a FIFO", "fifo", "file.not_a_file"], ["nothing", "none", "file.unreadable"], ["a link to a device", "null", "file.outside"],
    ["a link to a folder inside", "to-dir", "file.not_a_file"], ["a link to a FIFO inside", "to-fifo", "file.not_a_file"], ["a link through a link", "two", "file.outside"],
  ])("refuses %s", (_, name, fault) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "dir"));
    execFileSync("mkfifo", [join(folder, "fifo")]);
    symlinkSync("/dev/null", join(folder, "null"));
    symlinkSync("dir", join(folder, "to-dir"));
    symlinkSync("fifo", join(folder, "to-fifo"));
    symlinkSync("null", join(folder, "two"));
    expect(readGuarded(join(folder, name), folder, buffer)).toMatchObject({ ok: false, fault });
  });

  it("is not fooled by a folder whose name only begins the same", () => {
    const base = temporaryFolder();
    mkdirSync(join(base, "agents"));
    mkdirSync(join(base, "agents-evil"));
    writeFileSync(join(base, "agents-evil/x"), "secret");
    symlinkSync("../agents-evil/x", join(base, "agents/x"));
    expect(readGuarded(join(base, "agents/x"), join(base, "agents"), buffer)).toMatchObject({ ok: false, fault: "file.outside" });
  });
});

describe("a swap between check and open", () => {
  it.each([
    ["a file for a symlink out", `
      write(d + "/t", agent("inside")); link(out + "/secret.md", d + "/l"); for (;;) { mv(d + "/t", d + "/x.md"); mv(d + "/l", d + "/x.md"); write(d + "/t", agent("inside")); link(out + "/secret.md", d + "/l"); }`],
    ["a symlink inside for a symlink out", `
      write(d + "/real.txt", agent("inside")); for (;;) { link("real.txt", d + "/l"); mv(d + "/l", d + "/x.md"); link(out + "/secret.md", d + "/l"); mv(d + "/l", d + "/x.md"); }`],
    ["a target for a symlink out", `
      link("real.txt", d + "/x.md"); for (;;) { write(d + "/t", agent("inside")); mv(d + "/t", d + "/real.txt"); link(out + "/secret.md", d + "/l"); mv(d + "/l", d + "/real.txt"); }`],
    ["the folder for a symlink out", `
      write(d + "/x.md", agent("inside")); link(out, d + ".link"); for (;;) { mv(d, d + ".away"); mv(d + ".link", d); mv(d, d + ".link"); mv(d + ".away", d); }`],
  ])("of %s never shows what is outside", async (_, loop) => {
    const { base, paths, load } = agentWorld();
    mkdirSync(join(base, "out"));
    writeFileSync(join(base, "out/secret.md"), agentFile("outside"));
    writeFileSync(join(base, "out/x.md"), agentFile("outside"));
    const program = `
      const fs = require("node:fs"); const [d, out] = process.argv.slice(1);
      const write = fs.writeFileSync, link = fs.symlinkSync, mv = fs.renameSync;
      const agent = (name) => "---\\nname: " + name + "\\ndescription: d\\npermissions: []\\n---\\nx\\n";
      process.stdout.write("ready"); ${loop}`;
    const swapper = spawn(process.execPath, ["-e", program, paths.project.agents, join(base, "out")], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      await new Promise((ready) => swapper.stdout.once("data", ready));
      const seen = new Set<string>();
      for (let i = 0; i < 400; i++) for (const entry of (await load()).items) seen.add(entry.name);
      expect(seen).not.toContain("outside");
      expect(swapper.exitCode).toBeNull();
    } finally {
      swapper.kill("SIGKILL");
    }
  });
});
