import { expect, it } from "vitest";
import { isArmed } from "../../../src/cli/chat/dialog.ts";

it("keys that were meant for something else decide nothing until a moment has passed without one", () => {
  const never = Number.NEGATIVE_INFINITY;
  expect(isArmed(10_000, [never, never])).toBe(true);
  // Typing a message, however long, and the key that closed the dialog before.
  for (const now of [10_001, 10_400, 10_800]) {
    expect(isArmed(now, [10_000, never])).toBe(false);
    expect(isArmed(now, [never, 10_000])).toBe(false);
    expect(isArmed(now, [5000, 10_000])).toBe(false);
  }
  expect(isArmed(10_801, [10_000, 9000])).toBe(true);
});
