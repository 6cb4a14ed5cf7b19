import { copyFileSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checksum } from "../../src/lib/checksum.ts";
import { agentFile, agentWorld, type AgentWorld } from "../support/agents.ts";

// A program cannot set a file's ctime, so the tests move the clock by which its age is judged.
const HOUR = 3_600_000;
const LONG_AGO = 1_700_000_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + HOUR });
});
afterEach(() => {
  vi.useRealTimers();
});

const folder = (world: AgentWorld) => join(world.project, ".crucible/agents");
const descriptions = async (world: AgentWorld) => (await world.load()).items.filter((e) => e.source === "project").map((e) => `${e.name}: ${e.value.description}`);

function write(path: string, description: string): void {
  writeFileSync(path, agentFile("a", { description }));
  utimesSync(path, LONG_AGO, LONG_AGO);
}

/** Makes what is taken from the index unlike what is read: it says what no file says, and knows no content of any. */
function doctor(world: AgentWorld): void {
  const text = readFileSync(world.indexFile, "latin1").slice(16).replaceAll('"one"', '"from the index"').replaceAll(/(?<="digests":")\w+/g, (digests) => "0".repeat(digests.length));
  const body = Buffer.from(text, "latin1");
  writeFileSync(world.indexFile, Buffer.concat([Buffer.from(checksum(body)), body]));
}

async function settledWorld(): Promise<AgentWorld> {
  const world = agentWorld();
  write(join(folder(world), "a.md"), "one");
  expect(await descriptions(world)).toEqual(["a: one"]);
  doctor(world);
  return world;
}

describe.runIf(process.platform === "linux")("a file that the index knows", () => {
  it("is not read again while nothing about it has changed", async () => {
    const world = await settledWorld();
    expect(await descriptions(world)).toEqual(["a: from the index"]);
    expect(await descriptions(world)).toEqual(["a: from the index"]);
  });

  const CHANGES: [string, (path: string, world: AgentWorld) => void][] = [
    ["edited in place to the same size, its time set back", (path) => write(path, "two")],
    ["replaced by a rename, with the same size and time", (path, { base }) => (write(join(base, "new"), "two"), renameSync(join(base, "new"), path))],
    ["replaced by a copy with preserved times", (path, { base }) => {
      write(join(base, "new"), "two");
      rmSync(path);
      copyFileSync(join(base, "new"), path);
      const { atimeMs, mtimeMs } = statSync(join(base, "new"));
      utimesSync(path, atimeMs / 1000, mtimeMs / 1000);
    }],
    ["swapped for a hard link to another file", (path, { base }) => (write(join(base, "new"), "two"), rmSync(path), linkSync(join(base, "new"), path))],
    ["edited through another hard link", (path, { base }) => (linkSync(path, join(base, "other")), write(join(base, "other"), "two"))],
    ["swapped for a symlink", (path) => (write(join(path, "../b.txt"), "two"), rmSync(path), symlinkSync("b.txt", path))],
    ["in a folder that was swapped for another", (path, { base }) => {
      renameSync(join(path, ".."), join(base, "old"));
      mkdirSync(join(path, ".."));
      write(path, "two");
    }],
  ];
  it.each(CHANGES)("is read again when it was %s", async (_, change) => {
    const world = await settledWorld();
    change(join(folder(world), "a.md"), world);
    expect(await descriptions(world)).toEqual(["a: two"]);
    expect(await descriptions(world)).toEqual(["a: two"]);
  });

  it("is not shown under its old name, nor after it is gone", async () => {
    const world = await settledWorld();
    renameSync(join(folder(world), "a.md"), join(folder(world), "b.md"));
    expect((await world.load()).items.filter((e) => e.source === "project").map((e) => e.path)).toEqual([join(folder(world), "b.md")]);
    rmSync(join(folder(world), "b.md"));
    expect(await descriptions(world)).toEqual([]);
    writeFileSync(join(folder(world), "c.md"), agentFile("c"));
    await world.load();
    expect(readFileSync(world.indexFile, "utf8")).not.toContain('"b.md"');
  });

  it("is told from its neighbour when the two change places", async () => {
    const world = agentWorld();
    const path = (name: string) => join(folder(world), name);
    for (const name of ["a", "b"]) writeFileSync(path(`${name}.md`), agentFile(name));
    await world.load();
    renameSync(path("a.md"), path("c"));
    renameSync(path("b.md"), path("a.md"));
    renameSync(path("c"), path("b.md"));
    expect((await world.load()).items.filter((e) => e.source === "project").map((e) => [e.name, e.path])).toEqual([["a", path("b.md")], ["b", path("a.md")]]);
  });

  it.each([
    ["read too soon after its last change", 0],
    ["changed in what the clock calls the future", -HOUR],
  ])("is read every time when it was %s", async (_, offset) => {
    vi.useRealTimers();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + offset });
    const world = await settledWorld();
    expect(await descriptions(world)).toEqual(["a: one"]);
    vi.setSystemTime(Date.now() + 2 * HOUR);
    write(join(folder(world), "a.md"), "two");
    expect(await descriptions(world)).toEqual(["a: two"]);
  });

  it("is read every time when it is a symlink", async () => {
    const world = agentWorld();
    write(join(folder(world), "b.txt"), "one");
    symlinkSync("b.txt", join(folder(world), "a.md"));
    await world.load();
    write(join(folder(world), "b.txt"), "two");
    expect(await descriptions(world)).toEqual(["a: two"]);
  });
});
