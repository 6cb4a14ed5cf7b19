import { createHash } from "node:crypto";
import type { CruEvent } from "../../contract/event.ts";

export type CallIds = {
  take(tool: string, input: unknown): string;
  /** It has its result. Without one the same call, made again, is the same. */
  release(id: string, ended: boolean): void;
};

/**
 * Names the calls of an agent whose own ids we do not see. A call that was cut off and is made again after a restart gets the id that it had, so
 * that its child goes on and its answered question is found; one that has ended is another call the next time.
 */
export function callIds(recorded: readonly CruEvent[], spanId: string): CallIds {
  const taken = new Set(recorded.flatMap((e) => (e.type === "agent.tool_result" && e.span_id === spanId ? [e.call_id] : [])));
  return {
    take(tool, input) {
      const name = createHash("sha256").update(JSON.stringify([tool, input])).digest("hex").slice(0, 12);
      let n = 0;
      while (taken.has(`${name}-${n}`)) n++;
      taken.add(`${name}-${n}`);
      return `${name}-${n}`;
    },
    release: (id, ended) => void (!ended && taken.delete(id)),
  };
}
