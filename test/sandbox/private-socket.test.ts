import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, utimesSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { removeLeft } from "../../src/sandbox/private-socket.ts";
import { temporaryFolder } from "../support/temp.ts";

it("folders of killed processes are removed; those in use, young ones and others stay", async () => {
  const parent = temporaryFolder();
  const folder = (name: string): string => {
    mkdirSync(join(parent, name));
    return join(parent, name);
  };
  const [dead, young, used, other] = [folder("cru-net-1-dead"), folder("cru-net-2-young"), folder("cru-net-3-used"), folder("somebody-else")];
  const killed = (socket: string): void => void spawnSync(process.execPath, ["-e", `require("net").createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, "SIGKILL"))`]);
  for (const at of [dead, young, other]) killed(join(at, "s"));
  const server = createServer();
  await new Promise<void>((ready) => server.listen(join(used, "s"), ready));
  onTestFinished(() => void server.close());
  for (const at of [dead, used, other]) utimesSync(at, new Date(0), new Date(0));
  await removeLeft(parent);
  expect([dead, young, used, other].map((at) => existsSync(join(at, "s")))).toEqual([false, true, true, true]);
});
