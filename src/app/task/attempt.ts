import type { BeadStore } from "../../beads/bead-store.ts";
import type { Bead } from "../../contract/bead.ts";
import type { CruEvent, NewEvent } from "../../contract/event.ts";
import type { AgentIdentity, Ask } from "../../contract/runner.ts";
import { systemClock } from "../../lib/clock.ts";
import { createRedactor } from "../../lib/redact.ts";
import type { ReadSession } from "../../session/read-session.ts";
import type { SessionWriter } from "../../session/session-writer.ts";
import { answerItem } from "../answer-item.ts";
import { createAsk, type AskDeps } from "../chat/ask.ts";
import type { Prepared } from "./prepare-task.ts";
import type { TaskListener, TaskRequest } from "./task.ts";

export type Task = { request: TaskRequest; listener: TaskListener; prepared: Prepared; store: BeadStore };

/** One try at a bead, from the moment on at which its session is open. */
export type Attempt = Task & {
  bead: Bead;
  session: SessionWriter;
  events: CruEvent[];
  emit(event: NewEvent): void;
  signal: AbortSignal;
  identity: AgentIdentity;
  /** Earlier attempts at the bead, newest first. */
  before: readonly ReadSession[];
};

export function askOf(at: Attempt): Ask {
  const { prepared, request, events, emit, signal, identity } = at;
  const { paths, settings } = prepared.project;
  return createAsk(identity, prepared.agent.approvalTimeoutS, {
    paths, clock: systemClock, redactor: createRedactor(request.env), emit, approvals: settings.approvals, canWait: request.wait, signal, recorded: events,
    // The runner stops its own clocks.
    waiting: (wait) => wait(),
    asking: askingOf(at),
  });
}

/** How a person in front of this process answers. */
export function askingOf({ listener, prepared }: Pick<Attempt, "listener" | "prepared">): AskDeps["asking"] {
  const { paths } = prepared.project;
  return (question, help) => listener.asking?.(question, help, (answer) => void answerItem(answer, { paths, clock: systemClock }));
}
