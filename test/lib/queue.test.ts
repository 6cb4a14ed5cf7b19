import { describe, expect, it } from "vitest";
import { openQueue } from "../../src/lib/queue.ts";

/** A job that ends when it is told to. */
function jobs(): { start(name: string): () => Promise<string>; end(name: string): void; started: string[]; running(): number } {
  const open = new Map<string, () => void>();
  const started: string[] = [];
  return {
    started,
    running: () => open.size,
    start: (name) => () => {
      started.push(name);
      return new Promise((done) => open.set(name, () => done(name)));
    },
    end: (name) => {
      open.get(name)?.();
      open.delete(name);
    },
  };
}
const settle = (): Promise<void> => new Promise((done) => setImmediate(done));

describe("queue", () => {
  it("[CRU-6.3.3] starts in the order of arrival, one at a time", async () => {
    const queue = openQueue({ maxConcurrent: 1 });
    const work = jobs();
    const waits: number[] = [];
    const all = ["a", "b", "c"].map((n) => queue.run("p", work.start(n), (ahead) => waits.push(ahead)));
    await settle();
    expect([work.started, queue.waiting(), queue.running(), waits]).toEqual([["a"], 2, 1, [1, 2]]);
    work.end("a");
    await settle();
    expect(work.started).toEqual(["a", "b"]);
    work.end("b");
    await settle();
    work.end("c");
    expect(await Promise.all(all)).toEqual(["a", "b", "c"]);
  });

  it("[CRU-6.4.1] [CRU-6.4.2] more at once is a number, and each provider can have a limit of its own", async () => {
    const queue = openQueue({ maxConcurrent: 3, perGroup: { slow: 1 } });
    const work = jobs();
    for (const [name, group] of [["s1", "slow"], ["s2", "slow"], ["f1", "fast"], ["f2", "fast"], ["f3", "fast"]] as const) void queue.run(group, work.start(name));
    await settle();
    expect(work.started).toEqual(["s1", "f1", "f2"]);
    work.end("f1");
    await settle();
    expect(work.started).toEqual(["s1", "f1", "f2", "f3"]);
    work.end("s1");
    await settle();
    expect(work.started).toEqual(["s1", "f1", "f2", "f3", "s2"]);
  });

  it("a job that throws frees its place", async () => {
    const queue = openQueue({ maxConcurrent: 1 });
    await expect(queue.run("p", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await queue.run("p", async () => 1)).toBe(1);
    expect(queue.running()).toBe(0);
  });
});
