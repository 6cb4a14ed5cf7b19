import { expect, it } from "vitest";
import { countCalls } from "../../bench/calls-entry.ts";

it("on five tasks the loop makes at most one call more than a plain one, and one in all where no tool is needed", async () => {
  const rows = await countCalls();
  expect(rows).toHaveLength(5);
  expect(rows.filter((r) => r.ours > r.plain + 1)).toEqual([]);
  expect(rows.find((r) => r.plain === 1)?.ours).toBe(1);
});
