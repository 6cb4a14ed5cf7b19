import { describe, expect, it } from "vitest";
import { startTimeLimit } from "../../../src/app/chat/time-limit.ts";

describe("time limit", () => {
  it("counts work, not waiting, and goes on from what was used before", async () => {
    let now = 0;
    const limit = startTimeLimit(1_000_000, 5, () => now);
    now = 10;
    let [answerFirst, answerSecond] = [() => {}, () => {}];
    const first = limit.waiting(() => new Promise<void>((resolve) => (answerFirst = resolve)));
    now = 500_000;
    const second = limit.waiting(() => new Promise<void>((resolve) => (answerSecond = resolve)));
    answerFirst();
    await first;
    now = 900_000;
    answerSecond();
    await second;
    now = 900_003;
    expect(limit.stop()).toBe(18);
    expect(limit.signal.aborted).toBe(false);
  });

  it("without a limit still tells the time, and after its end it stands still", async () => {
    let now = 0;
    const limit = startTimeLimit(Number.POSITIVE_INFINITY, 0, () => now);
    let answer = (): void => {};
    const waiting = limit.waiting(() => new Promise<void>((resolve) => (answer = resolve)));
    now = 50;
    expect(limit.stop()).toBe(0);
    answer();
    await waiting;
    now = 99;
    expect(limit.stop()).toBe(0);
  });

  it("ends the work when the time is used up", async () => {
    const limit = startTimeLimit(10, 10, () => 0);
    await new Promise((resolve) => limit.signal.addEventListener("abort", resolve));
    expect((limit.signal.reason as Error).name).toBe("TimeoutError");
  });
});
