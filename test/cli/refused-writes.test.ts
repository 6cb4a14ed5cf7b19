import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskFault } from "../../src/lib/disk-fault.ts";
import { finish, type Finished, machine, type Machine, repository } from "../support/cru.ts";
import { describeSandboxed } from "../support/sandbox.ts";

const main = join(repository, "dist", "main.js");

function through(box: Machine, command: string[], args: string[]): Promise<Finished> {
  const [program = "", ...before] = command;
  return finish(program, [...before, process.execPath, main, ...args], { cwd: box.project, env: { PATH: process.env.PATH ?? "", HOME: box.home, ANTHROPIC_API_KEY: "none", ANTHROPIC_BASE_URL: "http://127.0.0.1:9" } });
}

describe("what the machine refuses is told as such", () => {
  it.skipIf(!existsSync("/dev/full"))("an output that cannot be written", async () => {
    const box = machine();
    for (const args of [["agents", "list"], ["agents", "list", "--json"], ["config", "get"], ["--help"], ["--version"]]) {
      const { code, stderr } = await through(box, ["sh", "-c", 'exec "$0" "$@" >/dev/full'], args);
      expect({ code, stderr }).toEqual({ code: 1, stderr: "cru: the output cannot be written: the disk is full\n  → free some space, then try again\n" });
    }
    expect((await through(box, ["sh", "-c", 'exec "$0" "$@" >/dev/full 2>&1'], ["agents", "list"])).code).toBe(1);
  });

  it("a file where a folder must be", async () => {
    const box = machine({ project: { ".crucible": "" } });
    const { code, stderr } = await box.cru(["chat", "-p", "hi"], { env: { ANTHROPIC_API_KEY: "none" } });
    expect(code).toBe(1);
    expect(stderr).toContain(join(box.project, ".crucible"));
    expect(stderr).not.toContain("bug in Crucible");
  });

  it("names the path and the reason, and leaves what may be a bug alone", () => {
    const fault = (code: string, syscall: string, path?: string): Error => Object.assign(new Error(code), { code, syscall, path });
    expect(diskFault(fault("EROFS", "open", "/a"))).toMatchObject({ code: "failed", exitCode: 1, message: "/a cannot be opened: the file system is read-only" });
    expect(diskFault(fault("EACCES", "rename", "/a"))).toMatchObject({ message: "/a cannot be written: permission denied" });
    expect(diskFault(fault("ENOENT", "mkdir", "/a/b"))).toMatchObject({ message: expect.stringContaining("/a/b cannot be made: its parent folder") });
    expect(diskFault(fault("EDQUOT", "write", "/a"))).toMatchObject({ hint: "free some space, then try again" });
    expect(diskFault(fault("ENOENT", "uv_cwd"))).toMatchObject({ message: "the current folder does not exist any more" });
    expect(diskFault(fault("ENOENT", "open", "/a"))).toBeUndefined();
    expect(diskFault(fault("EACCES", "connect"))).toBeUndefined();
    expect(diskFault(new Error("no disk"))).toBeUndefined();
  });
});

describeSandboxed("a read-only file system", () => {
  it("is named with the path, in the project and in the home", async () => {
    const box = machine();
    for (const [args, path] of [[["chat", "-p", "hi"], box.project], [["config", "set", "model", "opus"], box.home], [["init"], box.project], [["beads", "create", "x"], box.project]] as const) {
      const { code, stderr } = await through(box, ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev"], [...args]);
      expect({ args, code }).toEqual({ args, code: 1 });
      expect(stderr).toContain(path);
      expect(stderr).toContain("→ ");
      expect(stderr).not.toContain("bug in Crucible");
    }
    const { code, stdout } = await through(box, ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev"], ["doctor"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringMatching(/^fail {2}writable .*\n +→ make it writable/m) });
  });
});
