import { expect, it } from "vitest";
import type { BeadStore } from "../../src/beads/bead-store.ts";

/** What every bead store does. `open` gives an empty one. */
export function storeContract(open: () => BeadStore): void {
  it("creates a bead with an id of its own, and shows and lists it", async () => {
    const store = open();
    const first = await store.create({ title: "One" });
    const second = await store.create({ title: "Zwei\u2028 \"q\" \\ 🜂", description: "d\nd", acceptance_criteria: "a", design: "g", notes: "n", assignee: "x", priority: 0, issue_type: "bug", labels: ["l", "m", "l"] });
    expect(first).toMatchObject({ title: "One", status: "open", priority: 2, issue_type: "task", labels: [], dependencies: [] });
    expect(first.id).toMatch(/^[a-z0-9._-]+-[a-z0-9]{4,}$/);
    expect(second.id).not.toBe(first.id);
    expect(second).toMatchObject({ description: "d\nd", acceptance_criteria: "a", design: "g", notes: "n", assignee: "x", priority: 0, issue_type: "bug", labels: ["l", "m"] });
    expect(new Date(first.created_at ?? "").toISOString()).toBe(first.created_at);
    expect(first.updated_at).toBe(first.created_at);
    expect(await store.get(second.id)).toEqual(second);
    expect(await store.get("nobody-0000")).toBeUndefined();
    expect(await store.list()).toEqual({ items: [first, second], problems: [] });
  });

  it("updates only what is named, and labels one by one", async () => {
    const store = open();
    const { id, created_at } = await store.create({ title: "One", description: "d", labels: ["a", "b"] });
    const updated = await store.update(id, { status: "in_progress", priority: 1, addLabels: ["c", "a"], removeLabels: ["b"] });
    expect(updated).toMatchObject({ id, title: "One", description: "d", status: "in_progress", priority: 1, labels: ["a", "c"], created_at });
    expect((updated.updated_at ?? "") > (created_at ?? "")).toBe(true);
    expect(await store.get(id)).toEqual(updated);
    await expect(store.update("nobody-0000", { priority: 1 })).rejects.toMatchObject({ code: "not_found" });
  });

  it("closes with time and reason, keeps the time on a second close, and forgets both when it is opened again", async () => {
    const store = open();
    const { id } = await store.create({ title: "One" });
    const closed = await store.close(id, { reason: "done" });
    expect(closed).toMatchObject({ status: "closed", close_reason: "done" });
    expect(closed.closed_at).toBe(closed.updated_at);
    expect(await store.close(id, { reason: "really" })).toMatchObject({ closed_at: closed.closed_at, close_reason: "really" });
    const open_ = await store.update(id, { status: "open" });
    expect(Object.keys(open_)).not.toEqual(expect.arrayContaining(["closed_at"]));
    expect(open_.close_reason).toBeUndefined();
    await expect(store.close("nobody-0000")).rejects.toMatchObject({ code: "not_found" });
  });
}
