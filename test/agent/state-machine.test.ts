import { describe, expect, it } from "vitest";
import { startMachine } from "../../src/agent/state-machine.ts";

describe("state machine", () => {
  it("reports each transition and cannot be left twice", () => {
    const seen: string[] = [];
    const idle = startMachine((from, to) => seen.push(`${from}→${to}`));
    idle.to("Planning").to("Acting").to("Observing").to("Reflecting").to("Complete");
    expect(seen).toEqual(["Idle→Planning", "Planning→Acting", "Acting→Observing", "Observing→Reflecting", "Reflecting→Complete"]);
    expect(() => idle.to("Planning")).toThrow("already left Idle");
  });

  it("illegal transitions do not type-check", () => {
    const idle = startMachine(() => {});
    // @ts-expect-error there is no way from Idle to Acting
    const skip = (): unknown => idle.to("Acting");
    // @ts-expect-error an answer passes Reflecting; there is no shortcut from Planning
    const shortcut = (): unknown => idle.to("Planning").to("Complete");
    // @ts-expect-error Complete is an end
    const after = (): unknown => idle.to("Planning").to("Acting").to("Observing").to("Reflecting").to("Complete").to("Planning");
    expect([skip, shortcut, after]).toHaveLength(3);
  });
});
