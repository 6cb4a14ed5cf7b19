import type { PlanTask } from "../contract/event.ts";

export type PlanInput = {
  id: string;
  description: string;
  depends_on?: string[] | undefined;
  agent?: string | undefined;
  status?: PlanTask["status"] | undefined;
};

export type PlanUpdate = { ok: true; tasks: PlanTask[] } | { ok: false; message: string };

/** The new plan, or what the model has to change. The model owns the status of its own tasks; the status of an agent's task comes from its run. */
export function updatePlan(current: readonly PlanTask[], wanted: readonly PlanInput[]): PlanUpdate {
  const known = new Map(current.map((task) => [task.id, task]));
  const ids = new Set<string>();
  for (const task of wanted) {
    if (ids.has(task.id)) return refuse(`task id "${task.id}" is used twice; give each task its own id`);
    ids.add(task.id);
  }
  const tasks = wanted.map((task): PlanTask => {
    const before = known.get(task.id);
    const agent = task.agent ?? null;
    const sameRun = before !== undefined && before.agent === agent && before.description === task.description;
    const status = agent === null ? (task.status ?? before?.status ?? "pending") : sameRun ? before.status : "pending";
    return { id: task.id, description: task.description, depends_on: [...new Set(task.depends_on ?? [])], agent, status };
  });
  return check(tasks);
}

/** Tasks of agents that can start now, in plan order. */
export function readyAgentTasks(tasks: readonly PlanTask[]): PlanTask[] {
  const status = new Map(tasks.map((t) => [t.id, t.status]));
  return tasks.filter((t) => t.agent !== null && t.status === "pending" && t.depends_on.every((d) => status.get(d) === "done"));
}

/** Marks what can no longer run because something it needs failed. */
export function skipAfterFailure(tasks: readonly PlanTask[]): PlanTask[] {
  let result = [...tasks];
  for (let changed = true; changed; ) {
    changed = false;
    const status = new Map(result.map((t) => [t.id, t.status]));
    result = result.map((t) => {
      const lost = t.status === "pending" && t.agent !== null && t.depends_on.some((d) => ["failed", "skipped"].includes(status.get(d) ?? ""));
      if (!lost) return t;
      changed = true;
      return { ...t, status: "skipped" };
    });
  }
  return result;
}

export function withStatus(tasks: readonly PlanTask[], id: string, status: PlanTask["status"]): PlanTask[] {
  return tasks.map((t) => (t.id === id ? { ...t, status } : t));
}

const MARKS: Record<PlanTask["status"], string> = { pending: " ", in_progress: ">", done: "x", failed: "!", skipped: "-" };

export function planText(tasks: readonly PlanTask[]): string {
  return tasks
    .map((t) => {
      const agent = t.agent === null ? "" : ` (agent: ${t.agent})`;
      const after = t.depends_on.length === 0 ? "" : ` (after: ${t.depends_on.join(", ")})`;
      return `[${MARKS[t.status]}] ${t.id}: ${t.description}${agent}${after}`;
    })
    .join("\n");
}

function check(tasks: PlanTask[]): PlanUpdate {
  const byId = new Map(tasks.map((t) => [t.id, t]));
  for (const task of tasks) {
    for (const needed of task.depends_on) {
      if (!byId.has(needed)) return refuse(`task "${task.id}" depends on "${needed}", which is not in the plan`);
    }
  }
  const cycle = findCycle(byId);
  if (cycle !== undefined) return refuse(`the plan has a cycle: ${cycle.join(" → ")}; remove one of these dependencies`);
  for (const task of tasks) {
    if (task.agent !== null || (task.status !== "done" && task.status !== "in_progress")) continue;
    const open = task.depends_on.filter((d) => byId.get(d)?.status !== "done" && byId.get(d)?.status !== "skipped");
    if (open.length > 0) return refuse(`task "${task.id}" cannot be ${task.status} before ${open.map((d) => `"${d}"`).join(", ")} is done`);
  }
  return { ok: true, tasks };
}

function findCycle(byId: Map<string, PlanTask>): string[] | undefined {
  const done = new Set<string>();
  const visit = (id: string, trail: string[]): string[] | undefined => {
    const at = trail.indexOf(id);
    if (at >= 0) return [...trail.slice(at), id];
    if (done.has(id)) return undefined;
    for (const next of byId.get(id)?.depends_on ?? []) {
      const found = visit(next, [...trail, id]);
      if (found !== undefined) return found;
    }
    done.add(id);
    return undefined;
  };
  for (const id of byId.keys()) {
    const found = visit(id, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

function refuse(message: string): PlanUpdate {
  return { ok: false, message };
}
