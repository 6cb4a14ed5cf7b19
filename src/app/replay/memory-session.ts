import type { CruEvent } from "../../contract/event.ts";
import type { SessionMetadata } from "../../contract/session.ts";
import { foldEvent, startFold } from "../../session/fold-events.ts";
import { resultName } from "../../session/result-file.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { createTaskIds } from "../../session/task-ids.ts";

/** A session that is kept in memory and written nowhere; the names in it are those of the real one. */
export function memorySession(recorded: Pick<SessionMetadata, "session_id" | "trace_id">, before: readonly CruEvent[]): SessionWriter {
  const { session_id: id, trace_id: traceId } = recorded;
  const fold = startFold({
    schema: 1, session_id: id, trace_id: traceId, status: "running", started_at: "", completed_at: null, request: "", depth: 0, owner: null,
    primary: { agent: "", model: "", model_source: "default", version: "" }, subagents: [], tokens: { input: 0, output: 0 }, cost_usd: 0, cost_estimated: false,
    queue: { max_depth_seen: 0, order: [] }, permissions: [], model_overrides: [], approvals: [], denials: [], modifications: [], trace: [], waiting: [], active_ms: 0,
  });
  for (const event of before) foldEvent(fold, event);
  return {
    id,
    traceId,
    folder: "",
    emit: (event) => foldEvent(fold, { v: 1, ts: "", seq: 0, trace_id: traceId, ...event } as CruEvent),
    taskId: createTaskIds(id),
    writeResult: (result) => `${resultName(result.agent, result.task_id)}.md`,
    metadata: () => fold.metadata,
    finish: () => fold.metadata,
  };
}
