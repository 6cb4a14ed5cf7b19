import { expect, it } from "vitest";
import { claudePath, claudePeer, describeClaude } from "../support/peers.ts";
import { finish } from "../support/cru.ts";
import { temporaryFolder } from "../support/temp.ts";

describeClaude("the real Claude Code CLI", () => {
  it("is the version that the manifest pins, for every process that asks at once", async () => {
    const peers = await Promise.all([claudePeer(), claudePeer()]);
    expect(peers).toEqual([{ ok: true, path: claudePath }, { ok: true, path: claudePath }]);
    const home = temporaryFolder();
    const { stdout } = await finish(claudePath, ["--version"], { cwd: home, env: { HOME: home, PATH: process.env.PATH ?? "" } });
    expect(stdout.trim()).toBe("2.1.325 (Claude Code)");
  });
});
