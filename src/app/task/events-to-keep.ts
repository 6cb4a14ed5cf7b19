import type { NewEvent } from "../../contract/event.ts";
import type { RunnerName } from "../../contract/runner.ts";

const ALWAYS = new Set<NewEvent["type"]>(["inbox.opened", "inbox.closed", "inbox.reused", "inbox.revoked", "agent.started", "agent.completed", "agent.usage"]);

/**
 * Which events of a session must stay in memory. The loop of this process remembers from the record, and so do the agents that it runs for a
 * program outside; such a program keeps its own memory, and its stream, which may be long, is on disk only.
 */
export function eventsToKeep(runner: RunnerName): (event: NewEvent) => boolean {
  const ours = new Set<string>();
  return (event) => {
    if (event.type === "agent.started" && event.runner === "model") ours.add(event.span_id ?? "");
    return runner === "model" || ALWAYS.has(event.type) || ("span_id" in event && ours.has(event.span_id ?? ""));
  };
}
