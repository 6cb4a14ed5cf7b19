import { CruError } from "../../contract/error.ts";
import type { CruEvent } from "../../contract/event.ts";
import { type Conditions, conditionsSchema, RECORDING_VERSION } from "../chat/conditions.ts";

export type RecordedTurn = {
  message: string | null;
  conditions: Conditions;
  /** Everything before the turn: what its agents remembered. */
  before: CruEvent[];
  /** Everything that happened in it. */
  events: CruEvent[];
  first: boolean;
};

/** A recording as the turns it was made in; each is replayed from exactly what it began with. */
export function turnsOf(id: string, events: readonly CruEvent[]): RecordedTurn[] {
  const starts = events.flatMap((event, at) => (event.type === "session.turn" ? [at] : []));
  if (starts.length === 0) {
    throw new CruError("unsupported", `session ${id} has nothing that can be replayed`, { hint: "chats with an agent of this process can be; tasks, and whatever claude or an ACP agent did, cannot" });
  }
  return starts.map((at, n) => {
    const start = events[at];
    if (start?.type !== "session.turn") throw new Error("not the start of a turn");
    const version = (start.conditions as { recording?: unknown } | null)?.recording;
    if (typeof version === "number" && version > RECORDING_VERSION) {
      throw new CruError("unsupported", `session ${id} was recorded by a newer Crucible (recording ${version}, this one reads ${RECORDING_VERSION})`, { hint: "update Crucible" });
    }
    const parsed = conditionsSchema.safeParse(start.conditions);
    if (!parsed.success) throw new CruError("failed", `the recording of ${id} does not say what its turn ${n + 1} ran under: ${parsed.error.issues[0]?.path.join(".") ?? ""}`);
    return { message: start.message, conditions: parsed.data, before: events.slice(0, at), events: events.slice(at + 1, starts[n + 1]), first: n === 0 };
  });
}
