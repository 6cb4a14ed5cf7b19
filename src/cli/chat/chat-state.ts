import type { PlanTask } from "../../contract/event.ts";
import type { Question } from "../../contract/question.ts";
import type { DecisionHelp } from "../../contract/runner.ts";

export type AgentRow = {
  span: string;
  parent: string | null;
  name: string;
  depth: number;
  status: "queued" | "running" | "waiting" | "completed" | "partial" | "failed";
  startedMs: number;
  endedMs: number | undefined;
  costUsd: number | null;
  /** What it is about right now. */
  doing: string;
  turn: number;
};

export type Call = {
  id: string;
  span: string;
  agent: string;
  tool: string;
  input: unknown;
  output: string;
  ok: boolean | undefined;
  startedMs: number;
  durationMs: number;
};

export type Pending = DecisionHelp & { question: Question; openedMs: number };

/** What the screen knows of the conversation; changed only by `applyEvent`, `applyDelta` and the chat's own keys. */
export type ChatState = {
  agents: AgentRow[];
  calls: Call[];
  plan: PlanTask[];
  /** The reply that streams in: what of it stands in the scrollback already, and the rest. */
  reply: { text: string; printed: number; thinking: boolean };
  /** Whole texts of the primary that were shown in this turn. */
  printed: string[];
  working: { since: number; doing: string } | undefined;
  turn: number;
  /** Said while the agent works, and not taken yet. */
  queued: string[];
  /** The user's message that the next `session.guidance` repeats. */
  said: string | undefined;
  questions: Pending[];
  tokens: number;
  costUsd: number | null;
  estimated: boolean;
  verbose: boolean;
};

export function newState(verbose: boolean): ChatState {
  return {
    agents: [], calls: [], plan: [], reply: { text: "", printed: 0, thinking: false }, printed: [], working: undefined, turn: 0, queued: [], said: undefined, questions: [],
    tokens: 0, costUsd: 0, estimated: false, verbose,
  };
}

/** Children of this turn that have not come to an end. */
export function liveChildren(state: ChatState): AgentRow[] {
  return state.agents.filter((a) => a.depth > 0 && a.endedMs === undefined);
}
