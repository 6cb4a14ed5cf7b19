import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEmbeddedStore } from "../../src/beads/embedded-store.ts";
import { program, start } from "../support/program.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";
import { storeContract } from "./store-contract.ts";

/** Each reading of the clock is a second later. */
function ticking(): { now(): Date } {
  let at = Date.UTC(2026, 0, 1);
  return { now: () => new Date((at += 1000)) };
}

function place(lines: string | Buffer = "") {
  const root = join(temporaryFolder(), "My App");
  const folder = join(root, ".beads");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "issues.jsonl");
  if (lines.length > 0) writeFileSync(path, lines);
  return { root, folder, path, store: openEmbeddedStore({ root, folder, lockFile: join(root, "lock") }, { clock: ticking() }) };
}

describe("the embedded bead store", () => {
  storeContract(() => place().store);

  it("names beads after the folder, and after the beads that are there", async () => {
    expect((await place().store.create({ title: "x" })).id).toMatch(/^my-app-[0-9a-z]{4}$/);
    const { store } = place(`{"id":"web-a1b2","title":"x"}\n{"id":"old-1","title":"x"}\n{"id":"web-zz.3","title":"x"}\n`);
    expect((await store.create({ title: "y" })).id).toMatch(/^web-[0-9a-z]{4}$/);
  });

  it("keeps every byte of other programs: keys, number forms, escapes, order, spaces, blank lines", async () => {
    const first = String.raw`{ "zz" : 1.0, "id":"web-1", "big":12345678901234567890,"title":"caf\u00e9 \/", "status":"open", "x":{"a":[1, 2 ,{"}":"]"}]},"10":1,"2":2 ,"updated_at":"2025" }`;
    const other = `{"_type":"memory","key":"k","value":1e3}`;
    const { store, path } = place(`\ufeff${first}\r\n\n${other}\n{"id":"web-2","title":"second"}`);
    await store.update("web-1", { status: "blocked", priority: 3 });
    const at = "2026-01-01T00:00:01.000Z";
    const changed = first.replace('"open"', '"blocked"').replace('"2025"', `"${at}","priority":3`);
    expect(readFileSync(path, "utf8")).toBe(`\ufeff${changed}\r\n\n${other}\n{"id":"web-2","title":"second"}\n`);
    await store.close("web-2");
    expect(readFileSync(path, "utf8")).toContain(`\ufeff${changed}\r\n\n${other}\n{"id":"web-2",`);
  });

  it("reports lines that it cannot read and keeps them", async () => {
    const broken = Buffer.concat([
      Buffer.from(`{"id":"web-1","title":"ok"}\n<<<<<<< HEAD\n{"id":"web-2","title":"cut o`), Buffer.from("\n"), Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from(`[1]\n{"title":"no id"}\n{"id":"web-3","title":"x","status":"sleeping"}\n{"id":"web-1","title":"newer","updated_at":"2026-02-02"}\n`),
    ]);
    const { store, path } = place(broken);
    const { items, problems } = await store.list();
    expect(items.map((b) => [b.id, b.title])).toEqual([["web-1", "newer"]]);
    expect(problems.map((p) => [p.path, p.line, p.severity, p.field])).toEqual([
      [".beads/issues.jsonl", 1, "warning", "id"], [".beads/issues.jsonl", 2, "error", ""], [".beads/issues.jsonl", 3, "error", ""], [".beads/issues.jsonl", 4, "error", ""],
      [".beads/issues.jsonl", 5, "error", ""], [".beads/issues.jsonl", 6, "error", "id"], [".beads/issues.jsonl", 7, "error", "status"],
    ]);
    await store.create({ title: "new" });
    expect(readFileSync(path).subarray(0, broken.length)).toEqual(broken);
  });

  it("keeps the mode of the file, and does not write through a link", async () => {
    const { store, path } = place(`{"id":"web-1","title":"ok"}\n`);
    chmodSync(path, 0o640);
    await store.close("web-1");
    expect(statSync(path).mode & 0o777).toBe(0o640);
    const linked = place();
    const secret = join(temporaryFolder(), "secret");
    writeFileSync(secret, "key\n");
    symlinkSync(secret, linked.path);
    await expect(linked.store.create({ title: "x" })).rejects.toMatchObject({ code: "unsupported" });
    expect(readFileSync(secret, "utf8")).toBe("key\n");
  });

  it.each(["embeddeddolt", "dolt"])("does not write when the truth is in .beads/%s", async (name) => {
    const { store, folder, path } = place(`{"id":"web-1","title":"ok"}\n`);
    writeFiles(folder, { [`${name}/x`]: "" });
    for (const write of [() => store.create({ title: "x" }), () => store.update("web-1", { priority: 1 }), () => store.close("web-1")]) {
      await expect(write()).rejects.toMatchObject({ code: "unsupported", hint: expect.stringContaining("bd") });
    }
    expect(readFileSync(path, "utf8")).toBe(`{"id":"web-1","title":"ok"}\n`);
    expect((await store.list()).items).toHaveLength(1);
  });

  it("R7: two processes that write long beads at once lose nothing", { timeout: 120_000 }, async () => {
    const { store, root, folder } = place();
    const { id } = await store.create({ title: "shared" });
    const writer = await program(`
      import { openEmbeddedStore } from "@src/beads/embedded-store.ts";
      const [root, folder, name, id] = process.argv.slice(2);
      const store = openEmbeddedStore({ root, folder, lockFile: root + "/lock" }, { clock: { now: () => new Date() } });
      for (let i = 0; i < 20; i++) {
        await store.create({ title: name + i, description: name.repeat(20_000) });
        await store.update(id, { addLabels: [name + i] });
      }
    `);
    const writers = ["a", "b"].map((name) => start(writer, [root, folder, name, id]));
    await Promise.all(writers.map((w) => w.ended));
    expect(writers.map((w) => w.output())).toEqual(["", ""]);
    const { items, problems } = await store.list();
    expect(problems).toEqual([]);
    const names = ["a", "b"].flatMap((name) => Array.from({ length: 20 }, (_, i) => name + i)).sort();
    expect(items.slice(1).map((b) => b.title).sort()).toEqual(names);
    expect(items.slice(1).every((b) => b.description === b.title.slice(0, 1).repeat(20_000))).toBe(true);
    expect(new Set(items.map((b) => b.id)).size).toBe(41);
    expect(items[0]?.labels.toSorted()).toEqual(names);
  });
});
