import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CruError } from "../../src/contract/error.ts";
import { acquireLock } from "../../src/lib/lock.ts";
import { until } from "../support/processes.ts";
import { program, start } from "../support/program.ts";
import { temporaryFolder } from "../support/temp.ts";

const holder = `
  import { acquireLock } from "@src/lib/lock.ts";
  try {
    await acquireLock(process.argv[2], "run 7");
    console.log("held");
    setInterval(() => {}, 1000);
  } catch (error) {
    console.log(error.code + " " + error.exitCode + " " + error.message);
  }
`;

describe("lock", () => {
  it("one holds it, the other is told the pid and exits 75; the kernel frees it after kill -9", async () => {
    const path = join(temporaryFolder(), "deep", "x.lock");
    const file = await program(holder);
    const first = start(file, [path]);
    await until(() => first.output() === "held\n");
    const second = start(file, [path]);
    await second.ended;
    expect(second.output()).toBe(`locked 75 run 7 is in use by process ${first.pid}\n`);
    await expect(acquireLock(path, "run 7")).rejects.toThrow(CruError);
    first.kill("SIGKILL");
    await first.ended;
    const lock = await acquireLock(path, "run 7");
    await expect(acquireLock(path, "run 7")).rejects.toThrow(`in use by process ${process.pid}`);
    lock.release();
    lock.release();
    (await acquireLock(path, "run 7")).release();
  });

  it("of many that start at once exactly one gets it", async () => {
    const path = join(temporaryFolder(), "x.lock");
    const file = await program(holder);
    const all = Array.from({ length: 6 }, () => start(file, [path]));
    await until(() => all.every((one) => one.output() !== ""));
    expect(all.map((one) => one.output().split(" ")[0]).filter((word) => word === "held\n")).toHaveLength(1);
    for (const one of all) one.kill("SIGKILL");
    await Promise.all(all.map((one) => one.ended));
  });
});
