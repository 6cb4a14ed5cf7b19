import type { Env } from "../../config/paths.ts";
import type { AgentOutput } from "../../contract/agent-output.ts";
import type { NewEvent } from "../../contract/event.ts";
import type { ModelDelta } from "../../contract/model-call.ts";
import type { Question } from "../../contract/question.ts";
import type { DecisionHelp, OutcomeReason } from "../../contract/runner.ts";
import type { ErrorRecord, SessionStatus } from "../../contract/session.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import type { Tokens } from "../../contract/usage.ts";
import type { AnswerInput } from "../../inbox/answer-question.ts";
import type { ChangedFile } from "../../worktree/changes.ts";

export type TaskRequest = {
  cwd: string;
  env: Env;
  trust: boolean;
  /** What is to be done; with `beadId` more words about it. */
  text: string | undefined;
  beadId: string | undefined;
  acceptance: string | undefined;
  inPlace: boolean;
  runner: Settings["runner"] | undefined;
  model: string | undefined;
  agent: string | undefined;
  budgetUsd: number | undefined;
  /** The session to go on with. */
  resume: string | undefined;
  /** Wait for answers instead of ending with the question in the inbox. */
  wait: boolean;
  signal: AbortSignal;
};

export type TaskOpened = { beadId: string; title: string; sessionId: string; resumed: boolean; runner: string; model: string; branch: string | null; workspace: string };

export type TaskListener = {
  opened(task: TaskOpened): void;
  /** What we do ourselves before and after the agent. */
  say(text: string): void;
  event(event: NewEvent): void;
  delta(span: string, delta: ModelDelta): void;
  warn(message: string): void;
  /** A person is waited for in this process; `answer` takes what they say, or throws a `CruError`. */
  asking?(question: Question, help: DecisionHelp, answer: (answer: AnswerInput) => void): void;
  bell?(): void;
};

export type TaskEnd = {
  beadId: string;
  title: string;
  sessionId: string;
  status: Exclude<SessionStatus, "running">;
  reason: OutcomeReason | undefined;
  summary: string;
  output: AgentOutput | null;
  error: ErrorRecord | null;
  /** What to do about an end that is not the goal. */
  hint: string;
  inboxId: string | null;
  /** Of a limit: when it can go on. */
  resetAt: string | null;
  branch: string | null;
  base: string;
  commit: string | null;
  files: ChangedFile[];
  diff: string;
  diffTruncated: boolean;
  runner: string;
  version: string | null;
  externalSession: string | null;
  tokens: Tokens;
  costUsd: number | null;
  costEstimated: boolean;
  durationMs: number;
};
