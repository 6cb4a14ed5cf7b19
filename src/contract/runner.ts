import type { AgentOutput } from "./agent-output.ts";
import type { Emit } from "./event.ts";
import type { Permission } from "./permission.ts";
import type { Answer, Question, QuestionCategory } from "./question.ts";
import type { ErrorRecord, Modification } from "./session.ts";
import type { McpServer } from "./settings.ts";
import type { Tokens } from "./usage.ts";

/** Where an agent stands in the tree; the same for every runner. */
export type AgentIdentity = {
  name: string;
  sessionId: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  /** user, primary, … down to this agent. */
  parentChain: readonly string[];
  depth: number;
};

export type RunRequest = {
  agent: AgentIdentity;
  system: string;
  prompt: string;
  workspace: string;
  model: string;
  permissions: readonly Permission[];
  requiresApproval: readonly string[];
  mcpServers: Record<string, McpServer>;
  limits: { maxIterations: number; timeoutMs: number; idleMs: number; budgetUsd: number | null };
  /** Go on with what an earlier process of the same agent left. */
  resume: boolean;
  /** With `resume`: what the user says to a conversation that had come to an end. */
  followUp?: string;
  /** The final message must end with the agent output; without it the run has failed. */
  expectsOutput?: boolean;
  /** What a sandboxed agent sees beside its workspace, such as its private git folder. */
  binds?: readonly RunBind[];
};

export type RunBind = { from: string; to?: string; writable?: boolean; optional?: boolean };

/** `key` names the question within its session: asked again after a restart, it is the same item, answered or not. */
export type AskInput = Pick<Question, "kind" | "title" | "body" | "options" | "reversible"> & {
  key: string;
  action: { tool: string; input: unknown } | null;
  /** Why a person is asked, and what the action would do. */
  reason?: string;
  impact?: string;
  /** JSON Schema of the action's input, for changed parameters. */
  inputSchema?: Record<string, unknown>;
  /** What an approval for the whole session would allow; left out when there is no such thing. */
  grant?: string;
  /** What a person would be shown now. An approval of something else does not count: it is asked again. */
  refresh?(): Promise<string>;
  /** What sort of answer is wanted, when the words of an agent gave it away. */
  category?: QuestionCategory;
  /** Aborted when the agent no longer asks: the item is withdrawn. */
  signal?: AbortSignal;
} & Pick<DecisionHelp, "check" | "preview">;

/** What a person may use before deciding, where this process waits for them. `explain` asks the agent back; it does not decide anything. */
export type DecisionHelp = {
  check?: CheckChanges;
  /** What a person would be shown with these parameters changed; they have passed `check`. */
  preview?: (set: Record<string, unknown>) => Promise<string>;
  explain?: (text: string) => Promise<string>;
};

/** What is wrong with changed parameters of the action; undefined when they may be approved. */
export type CheckChanges = (set: Record<string, unknown>) => string | undefined;

/** Suspended: nobody can be waited for in this process; the item stays in the inbox. */
export type Asked = { kind: "answered"; answer: Answer } | { kind: "suspended"; inboxId: string };
export type Ask = (question: AskInput) => Promise<Asked>;

export type RunDeps = {
  emit: Emit;
  /** Writes the inbox record, then waits for the person or the deadline. */
  ask: Ask;
  signal: AbortSignal;
  /** Hears, when the agent runs, how to stop its clocks while something is done for it elsewhere: it is neither idle then nor slow. */
  onRunning?(clocks: { paused<T>(work: () => Promise<T>): Promise<T> }): void;
};

export type Outcome = {
  status: "completed" | "partial" | "failed" | "denied" | "timeout" | "blocked" | "cancelled";
  /** The agent's final message. */
  text: string;
  output: AgentOutput | null;
  tokens: Tokens;
  costUsd: number | null;
  costEstimated: boolean;
  error: ErrorRecord | null;
  /** Actions that a person refused. */
  denials: readonly { action: string; reason: string }[];
  /** Why it ended, for programs; the status alone says too little. */
  reason?: OutcomeReason;
  /** With `rate_limited` and `overloaded`: when to go on. The attempt is not spent. */
  resetAt?: string;
  /** With `suspended`: the question that must be answered first. */
  inboxId?: string;
  modifications?: readonly Modification[];
};

export type OutcomeReason =
  | "completed"
  | "reported_failure"
  | "invalid_output"
  | "denied"
  | "auth"
  | "rate_limited"
  | "overloaded"
  | "api_error"
  | "budget"
  | "max_turns"
  | "max_tokens"
  | "refusal"
  | "no_result"
  | "crashed"
  | "idle"
  | "time"
  | "cancelled"
  | "suspended"
  | "start_failed";

/** How an agent can run: in this process, or as a program outside. */
export const RUNNERS = ["model", "claude", "acp"] as const;
export type RunnerName = (typeof RUNNERS)[number];

/** Never throws for what an agent or model does: every such end is an outcome. */
export type Runner = { name: string; run(request: RunRequest, deps: RunDeps): Promise<Outcome> };
