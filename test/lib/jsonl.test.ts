import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { CruError } from "../../src/contract/error.ts";
import { openJsonl, readJsonl, repairJsonl } from "../../src/lib/jsonl.ts";
import { program, start } from "../support/program.ts";
import { temporaryFolder } from "../support/temp.ts";

const V1 = { version: 1 };
const record = (n: number): Record<string, unknown> => ({ v: 1, seq: n, text: `line ${n} "quoted" {"v":1} \n é€𝄞 ]}`.repeat(n % 3) });

function journal(count: number): { path: string; bytes: Buffer; records: Record<string, unknown>[] } {
  const path = join(temporaryFolder(), "journal.jsonl");
  const records = Array.from({ length: count }, (_, n) => record(n));
  const file = openJsonl(path);
  for (const one of records) file.append(one);
  file.close();
  return { path, bytes: readFileSync(path), records };
}

describe("jsonl", () => {
  it("reads back what was appended, and a missing file as empty", () => {
    const { path, records } = journal(20);
    expect(readJsonl(path, V1)).toMatchObject({ records, fault: undefined });
    expect(readJsonl(`${path}.none`, V1).records).toEqual([]);
    const file = openJsonl(path);
    file.append({ v: 1, seq: 20 }, { sync: true });
    file.close();
    expect(readJsonl(path, V1).records).toHaveLength(21);
  });

  it("what may be written soon is written in its order, before any other record, and when the running code has ended", async () => {
    const path = join(temporaryFolder(), "journal.jsonl");
    const seqs = (): unknown[] => readJsonl(path, V1).records.map((one) => one.seq);
    const file = openJsonl(path);
    for (let seq = 0; seq < 3; seq++) file.append({ v: 1, seq }, { soon: true });
    file.append({ v: 1, seq: 3 });
    expect(seqs()).toEqual([0, 1, 2, 3]);
    file.append({ v: 1, seq: 4 }, { soon: true });
    await Promise.resolve();
    expect(seqs()).toEqual([0, 1, 2, 3, 4]);
    file.append({ v: 1, seq: 5 }, { soon: true });
    file.sync();
    expect(seqs()).toHaveLength(6);
    file.append({ v: 1, seq: 6 }, { soon: true });
    file.append({ v: 1, seq: 7, text: "x".repeat(300_000) }, { soon: true });
    expect(seqs()).toHaveLength(8);
    file.append({ v: 1, seq: 8 }, { soon: true });
    file.close();
    expect(seqs()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it("a disk that refuses what was to be written soon is told by the next call, and by every later one", async () => {
    const file = openJsonl("/dev/full");
    file.append({ v: 1, seq: 0 }, { soon: true });
    await Promise.resolve();
    for (const call of [() => file.append({ v: 1, seq: 1 }, { soon: true }), () => file.append({ v: 1, seq: 2 }), () => file.sync()]) expect(call).toThrow(expect.objectContaining({ code: "ENOSPC" }));
    file.close();
  });

  it("keeps the valid prefix of a journal cut at every byte of its last three records, and goes on after the repair", () => {
    const { path, bytes, records } = journal(9);
    const ends = [...bytes.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at + 1);
    const from = ends.at(-4) ?? 0;
    for (let cut = from; cut <= bytes.length; cut++) {
      writeFileSync(path, bytes.subarray(0, cut));
      const read = readJsonl(path, V1);
      // A record is whole with or without its newline.
      const whole = ends.filter((end) => end - 1 <= cut).length;
      expect(read.records).toEqual(records.slice(0, whole));
      const torn = cut - (ends[whole - 1] ?? 0) > 0;
      expect(repairJsonl(path, read) !== undefined).toBe(torn);
      const file = openJsonl(path);
      file.append({ v: 1, after: true });
      file.close();
      expect(readJsonl(path, V1)).toMatchObject({ records: [...records.slice(0, whole), { v: 1, after: true }], fault: undefined });
    }
    expect(existsSync(`${path}.corrupt`)).toBe(true);
  });

  it.each([
    ["garbage", Buffer.from("\u0001\u0002 not json\n")],
    ["a run of NUL bytes", Buffer.alloc(4096)],
    ["a NUL run that ends in a newline", Buffer.concat([Buffer.alloc(100), Buffer.from("\n")])],
    ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d, 0x0a])],
    ["a number", Buffer.from("42\n")],
    ["a list", Buffer.from("[1]\n")],
    ["a text that looks like a record", Buffer.from('"{\\"v\\":1}"\n')],
    ["half a record before a whole one", Buffer.from('{"v":1,"text":"abc{"v":1,"seq":99}\n')],
  ])("moves %s and what follows to .corrupt with one warning", (_, bad) => {
    const { path, bytes, records } = journal(4);
    const tail = Buffer.concat([bad, Buffer.from('{"v":1,"seq":100}\n')]);
    writeFileSync(path, Buffer.concat([bytes, tail]));
    const read = readJsonl(path, V1);
    expect(read.records).toEqual(records);
    expect(repairJsonl(path, read)).toContain(`${tail.length} bytes were moved to ${path}.corrupt`);
    expect(readFileSync(`${path}.corrupt`)).toEqual(tail);
    expect(readFileSync(path)).toEqual(bytes);
    expect(repairJsonl(path, readJsonl(path, V1))).toBeUndefined();
  });

  it("takes two records on one line as two, and the first of one and a half", () => {
    const { path } = journal(0);
    writeFileSync(path, '{"v":1,"a":"}{"} {"v":1,"b":2}\n{"v":1,"c":3}{"v":1,"d\n');
    const read = readJsonl(path, V1);
    expect(read.records).toEqual([{ v: 1, a: "}{" }, { v: 1, b: 2 }, { v: 1, c: 3 }]);
    repairJsonl(path, read);
    expect(readJsonl(path, V1)).toMatchObject({ records: read.records, fault: undefined });
    expect(readFileSync(`${path}.corrupt`, "utf8")).toBe('{"v":1,"d\n');
  });

  it("refuses a file of a newer version", () => {
    const { path } = journal(2);
    writeFileSync(path, '{"v":1}\n{"v":2}\n');
    expect(() => readJsonl(path, V1)).toThrow(CruError);
  });

  it("does not follow a symlink", async () => {
    const { path } = journal(1);
    const { symlinkSync } = await import("node:fs");
    symlinkSync(path, `${path}.link`);
    expect(() => openJsonl(`${path}.link`)).toThrow("ELOOP");
  });

  it("two processes that append long lines neither mix nor lose one", async () => {
    const path = join(temporaryFolder(), "shared.jsonl");
    const file = await program(`
      import { openJsonl } from "@src/lib/jsonl.ts";
      const [path, name] = process.argv.slice(2);
      const file = openJsonl(path);
      for (let n = 0; n < 40; n++) file.append({ v: 1, name, n, text: name.repeat(50_000 + n * 7_000) });
    `);
    const writers = ["a", "b", "c"].map((name) => start(file, [path, name]));
    expect(await Promise.all(writers.map((w) => w.ended))).toEqual([0, 0, 0]);
    const read = readJsonl(path, V1);
    expect(read.fault).toBeUndefined();
    expect(read.records).toHaveLength(120);
    for (const name of ["a", "b", "c"]) {
      const own = read.records.filter((r) => r.name === name);
      expect(own.map((r) => r.n)).toEqual(Array.from({ length: 40 }, (_, n) => n));
      expect(own.every((r) => r.text === name.repeat(50_000 + Number(r.n) * 7_000))).toBe(true);
    }
  });
});
