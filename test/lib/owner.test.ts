import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { currentOwner, isAlive } from "../../src/lib/owner.ts";
import { program, start } from "../support/program.ts";
import { until } from "../support/processes.ts";

describe("owner", () => {
  it("this process is alive", async () => {
    expect(await isAlive(await currentOwner())).toBe(true);
  });

  it("the same pid with another start time, a pid that cannot be and a forged start are not alive", async () => {
    const owner = await currentOwner();
    expect(await isAlive({ ...owner, started: `${owner.started}0` })).toBe(false);
    expect(await isAlive({ pid: 0, started: owner.started })).toBe(false);
    expect(await isAlive({ pid: -1, started: owner.started })).toBe(false);
    expect(await isAlive({ pid: 2 ** 40, started: "unknown" })).toBe(false);
  });

  it("a killed process is dead, also before its parent has collected it", async () => {
    const file = await program(`
      import { currentOwner } from "@src/lib/owner.ts";
      console.log(JSON.stringify(await currentOwner()));
      setInterval(() => {}, 1000);
    `);
    const child = start(file);
    await until(() => child.output().endsWith("\n"));
    const owner = JSON.parse(child.output()) as { pid: number; started: string };
    expect(await isAlive(owner)).toBe(true);
    child.kill("SIGKILL");
    await child.ended;
    expect(await isAlive(owner)).toBe(false);

    // The shell becomes a program that never collects its child.
    const parent = spawn("/bin/sh", ["-c", "sleep 0 & exec sleep 30"], { stdio: "ignore" });
    const { readFileSync, readdirSync } = await import("node:fs");
    const zombie = (): number | undefined => {
      for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
        try {
          const [, state, ppid] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
          if (state === "Z" && Number(ppid) === parent.pid) return Number(pid);
        } catch {
          // Gone meanwhile.
        }
      }
      return undefined;
    };
    await until(() => zombie() !== undefined);
    const stat = readFileSync(`/proc/${zombie()}/stat`, "latin1");
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    const boot = (await currentOwner()).started.split("-")[0];
    expect(await isAlive({ pid: zombie() ?? 0, started: `${boot}-${ticks}` })).toBe(false);
    parent.kill("SIGKILL");
  });
});
