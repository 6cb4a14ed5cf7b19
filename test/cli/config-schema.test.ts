import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../../src/contract/settings-defaults.ts";
import { machine } from "../support/cru.ts";
import { schemaMisfits } from "../support/json-schema.ts";

const agent = { name: "a", description: "d", permissions: ["Shell"] };
const step = { name: "t", type: "script", command: "make" };
const grimoire = { name: "g", description: "d", steps: [{ name: "l", type: "loop", steps: [step] }, { name: "m", type: "merge" }] };
const event = { v: 1, ts: "2026-01-01T00:00:00Z", seq: 0, trace_id: "t", type: "warning", message: "m" };

const SAMPLES: [kind: string, good: unknown[], bad: [value: unknown, where: string][]][] = [
  ["agent", [agent, { ...agent, model: "opus", enabled: false, requires_approval: ["Shell"] }], [
    [{ ...agent, permissions: ["Root"] }, "$.permissions.0"], [{ ...agent, permisions: [] }, "$.permisions"], [{ name: "a", permissions: [] }, "$.description"], [{ ...agent, max_retries: 99 }, "$.max_retries"],
  ]],
  ["config", [{}, DEFAULT_SETTINGS, { sandbox: "off" }, { limits: { budget_usd: null } }], [
    [{ sandbox: "none" }, "$.sandbox"], [{ modle: "x" }, "$.modle"], [{ limits: { budget_usd: -1 } }, "$.limits.budget_usd"], [{ notify: [{ type: "command" }] }, "$.notify.0"], [{ permissions: { deny: ["Root"] } }, "$.permissions.deny.0"],
  ]],
  ["grimoire", [grimoire], [
    [{ ...grimoire, steps: [] }, "$.steps"], [{ ...grimoire, steps: [{ ...step, type: "magic" }] }, "$.steps.0"], [{ ...grimoire, steps: [{ name: "l", type: "loop", steps: [{ ...step, comand: "x" }] }] }, "$.steps.0"],
  ]],
  ["event", [event], [[{ ...event, type: "nothing" }, "$"], [{ ...event, v: 2 }, "$"], [{ ...event, message: undefined }, "$"]]],
];

describe("cru config schema", () => {
  it.each(SAMPLES)("%s tells good from bad", async (kind, good, bad) => {
    const schema: unknown = JSON.parse((await machine().cru(["config", "schema", kind])).stdout);
    for (const value of good) expect(schemaMisfits(value, schema)).toEqual([]);
    for (const [value, where] of bad) expect(schemaMisfits(value, schema).map((fault) => fault.split(":")[0])).toContain(where);
  });
});
