import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planText, readyAgentTasks, skipAfterFailure, updatePlan, withStatus } from "../../src/agent/plan.ts";
import type { PlanTask } from "../../src/contract/event.ts";

const tasks = (update: ReturnType<typeof updatePlan>): PlanTask[] => {
  if (!update.ok) throw new Error(update.message);
  return update.tasks;
};

describe("plan", () => {
  it("[PAOR-3.2.1] keeps what depends on what and refuses a cycle by naming it", () => {
    const plan = tasks(updatePlan([], [{ id: "a", description: "search" }, { id: "b", description: "edit", depends_on: ["a"] }]));
    expect(plan.map((t) => [t.id, t.depends_on, t.status])).toEqual([["a", [], "pending"], ["b", ["a"], "pending"]]);
    expect(planText(plan)).toBe("[ ] a: search\n[ ] b: edit (after: a)");
    expect(updatePlan([], [{ id: "a", description: "x", depends_on: ["b"] }, { id: "b", description: "y", depends_on: ["a"] }])).toEqual({
      ok: false, message: "the plan has a cycle: a → b → a; remove one of these dependencies",
    });
  });

  it.each([
    ["an unknown dependency", [{ id: "a", description: "x", depends_on: ["z"] }], 'task "a" depends on "z", which is not in the plan'],
    ["the same id twice", [{ id: "a", description: "x" }, { id: "a", description: "y" }], 'task id "a" is used twice; give each task its own id'],
    ["itself", [{ id: "a", description: "x", depends_on: ["a"] }], "the plan has a cycle: a → a; remove one of these dependencies"],
    ["done before its dependency", [{ id: "a", description: "x" }, { id: "b", description: "y", depends_on: ["a"], status: "done" as const }], 'task "b" cannot be done before "a" is done'],
    ["started before its dependency", [{ id: "a", description: "x" }, { id: "b", description: "y", depends_on: ["a"], status: "in_progress" as const }], 'task "b" cannot be in_progress before "a" is done'],
  ])("refuses %s and says what to change", (_, wanted, message) => {
    expect(updatePlan([], wanted)).toEqual({ ok: false, message });
  });

  it("the model cannot set the status of an agent's task, and a finished one stays finished", () => {
    const first = tasks(updatePlan([], [{ id: "a", description: "look", agent: "explore", status: "done" }]));
    expect(first[0]?.status).toBe("pending");
    const done = withStatus(first, "a", "done");
    expect(tasks(updatePlan(done, [{ id: "a", description: "look", agent: "explore" }]))[0]?.status).toBe("done");
    expect(tasks(updatePlan(done, [{ id: "a", description: "look elsewhere", agent: "explore" }]))[0]?.status).toBe("pending");
  });

  it("what needs a failed task is skipped, also further down", () => {
    const plan = tasks(updatePlan([], [
      { id: "a", description: "1", agent: "x" },
      { id: "b", description: "2", agent: "x", depends_on: ["a"] },
      { id: "c", description: "3", agent: "x", depends_on: ["b"] },
      { id: "d", description: "4", agent: "x" },
    ]));
    expect(skipAfterFailure(withStatus(plan, "a", "failed")).map((t) => t.status)).toEqual(["failed", "skipped", "skipped", "pending"]);
  });

  it("[PAOR-3.2.2] running whatever is ready, again and again, follows every dependency of any acyclic plan", () => {
    const plans = fc.integer({ min: 1, max: 12 }).chain((n) =>
      fc.tuple(...Array.from({ length: n }, (_, i) => fc.subarray(Array.from({ length: i }, (__, j) => `t${j}`)))));
    fc.assert(
      fc.property(plans, (dependencies) => {
        let plan = tasks(updatePlan([], dependencies.map((depends_on, i) => ({ id: `t${i}`, description: "x", agent: "a", depends_on }))));
        const order: string[] = [];
        for (let ready = readyAgentTasks(plan); ready.length > 0; ready = readyAgentTasks(plan)) {
          for (const task of ready) order.push(task.id);
          for (const task of ready) plan = withStatus(plan, task.id, "done");
        }
        expect(order).toHaveLength(dependencies.length);
        for (const [i, needs] of dependencies.entries()) for (const need of needs) expect(order.indexOf(need)).toBeLessThan(order.indexOf(`t${i}`));
      }),
    );
  });
});
