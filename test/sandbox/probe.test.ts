import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findBubblewrap, probeSandbox, sandboxFault, sandboxMissing } from "../../src/sandbox/probe.ts";
import { temporaryFolder } from "../support/temp.ts";

describe("sandboxFault", () => {
  it.each([
    ["bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.", "userns_blocked"],
    ["bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)", "userns_limit"],
    ["bwrap: Failed to make / slave: Operation not permitted", "mount_denied"],
    ["bwrap: setting up uid map: Operation not permitted", "no_capability"],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "proc_masked"],
    ["bwrap: setting up uid map: Permission denied", "apparmor"],
    ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "apparmor"],
    ["bwrap: something new", "unknown"],
  ])("reads %s", (stderr, code) => {
    const fault = sandboxFault(`${stderr}\n`);
    expect(fault).toMatchObject({ ok: false, code });
    expect(fault.details).toContain(stderr);
    expect(sandboxMissing(fault)).toMatchObject({ code: "sandbox_missing", exitCode: 4 });
    expect(sandboxMissing(fault).hint).toContain(fault.remedy);
  });
});

describe("probeSandbox", () => {
  it("says what to do elsewhere than on Linux", async () => {
    expect(await probeSandbox({ path: "", platform: "darwin" })).toMatchObject({ ok: false, code: "no_linux" });
  });
});

describe("findBubblewrap", () => {
  it("never takes a program out of the workspace", () => {
    const workspace = temporaryFolder();
    mkdirSync(join(workspace, "bin"));
    writeFileSync(join(workspace, "bin", "bwrap"), "#!/bin/sh\n", { mode: 0o755 });
    expect(findBubblewrap(join(workspace, "bin"), workspace) ?? "").not.toContain(workspace);
  });
});
