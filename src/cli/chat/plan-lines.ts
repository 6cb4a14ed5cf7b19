import type { PlanTask } from "../../contract/event.ts";
import { inertLine } from "../../lib/inert.ts";
import { cut, type Line, line, span } from "./line.ts";

const MARKS = {
  pending: span("☐ ", "dim"),
  in_progress: span("▸ ", "yellow"),
  done: span("☑ ", "green"),
  failed: span("✗ ", "red"),
  skipped: span("– ", "dim"),
} as const;

/** The plan as a checklist. With less room than tasks, what is done gives way first. */
export function planLines(tasks: readonly PlanTask[], width: number, most = Number.POSITIVE_INFINITY): Line[] {
  const done = tasks.filter((t) => t.status === "done").length;
  const head = line(`  Plan  ${done} of ${tasks.length} done`, "bold");
  const room = Math.max(1, most - 1);
  const open = tasks.filter((t) => t.status !== "done");
  const shown = tasks.length <= room ? tasks : open.slice(0, room);
  return [head, ...shown.map((t) => taskLine(t, width))].slice(0, Math.max(1, most));
}

function taskLine(task: PlanTask, width: number): Line {
  const past = task.status === "done" || task.status === "skipped";
  const agent = task.agent === null ? [] : [span(`  ${inertLine(task.agent, 40)}`, "blue")];
  return cut([span("  "), MARKS[task.status], past ? span(inertLine(task.description, 200), "dim") : span(inertLine(task.description, 200)), ...agent], width);
}
