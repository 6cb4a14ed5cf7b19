import type { TraceEntry } from "../contract/session.ts";
import { notBefore } from "./fold-events.ts";
import type { SessionWriter } from "./session-writer.ts";

const MESSAGE = "the process ended before this agent did";

/** Subagents that a killed process left without an end, and that nobody takes up again (`keep`), get one: failed, at their last sign of life. */
export function endInterruptedAgents(writer: SessionWriter, options: { lastSeen: string; keep?: ReadonlySet<string> }): void {
  const { trace, permissions } = writer.metadata();
  for (const entry of trace) {
    if (entry.depth === 0 || entry.status !== "running" || options.keep?.has(entry.span_id) === true) continue;
    const granted = permissions.find((p) => p.span_id === entry.span_id)?.granted ?? [];
    const error = { type: "interrupted", message: MESSAGE };
    const completed = notBefore(options.lastSeen, entry.started_at);
    const duration = Date.parse(completed) - Date.parse(entry.started_at);
    const file = writer.writeResult({
      agent: entry.agent,
      task_id: taskIdOf(entry, writer),
      parent_chain: entry.parent_chain,
      spawned_at: entry.started_at,
      completed_at: completed,
      duration_ms: duration,
      model: entry.model,
      model_source: entry.model_source,
      tokens: entry.tokens,
      cost_usd: entry.cost_usd,
      permissions: granted,
      status: "failed",
      error,
      denials: [],
      reflection: [],
      task: entry.task,
      text: "",
    });
    writer.emit({
      type: "agent.completed", span_id: entry.span_id, agent: entry.agent, status: "failed", summary: MESSAGE, duration_ms: duration, tokens: entry.tokens,
      cost_usd: entry.cost_usd, error, file,
    });
  }
}

function taskIdOf(entry: TraceEntry, writer: SessionWriter): string {
  return typeof entry.task_id === "string" ? entry.task_id : writer.taskId(entry.agent, entry.span_id);
}
