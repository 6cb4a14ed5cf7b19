import type { PlanTask } from "../../contract/event.ts";
import type { Question } from "../../contract/question.ts";
import type { DecisionHelp } from "../../contract/runner.ts";

export type AgentRow = {
  span: string;
  parent: string | null;
  name: string;
  depth: number;
  status: "running" | "waiting" | "completed" | "partial" | "failed";
  startedMs: number;
  endedMs: number | undefined;
  costUsd: number | null;
  task: string;
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
  /** What it changed. */
  diff: string | undefined;
};

export type Pending = DecisionHelp & { question: Question; openedMs: number };

/** What the screen knows of the conversation; changed only by `applyEvent`, `applyDelta` and the chat's own keys. */
export type ChatState = {
  agents: AgentRow[];
  /** Spans of agents that wait for their turn. */
  inLine: Set<string>;
  calls: Call[];
  plan: PlanTask[];
  /** The reply that streams in: what of it stands in the scrollback already, and the rest. */
  reply: { text: string; printed: number; thinking: boolean };
  /** Whole texts of the primary that were shown in this turn. */
  printed: string[];
  working: { since: number; doing: string } | undefined;
  /** The user has stopped the work and it comes to its end. */
  stopping: boolean;
  turn: number;
  /** Said while the agent works, and not taken yet. */
  queued: string[];
  /** The user's message that the next `session.guidance` repeats. */
  said: string | undefined;
  questions: Pending[];
  /** Titles by id of everything that was asked. */
  asked: Map<string, string>;
  tokens: number;
  costUsd: number | null;
  estimated: boolean;
  verbose: boolean;
};

export function newState(verbose: boolean): ChatState {
  return {
    agents: [], inLine: new Set(), calls: [], plan: [], reply: { text: "", printed: 0, thinking: false }, printed: [], working: undefined, stopping: false, turn: 0, queued: [], said: undefined, questions: [], asked: new Map(),
    tokens: 0, costUsd: 0, estimated: false, verbose,
  };
}

/** Children of this turn that have not come to an end. */
export function liveChildren(state: ChatState): AgentRow[] {
  return state.agents.filter((a) => a.depth > 0 && a.endedMs === undefined);
}
