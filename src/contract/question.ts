import { z } from "zod";

/** One record of the inbox: written before anyone is asked, bound by hash to the exact action. */
export const INBOX_KINDS = ["approval", "permission", "question", "guidance", "merge", "budget"] as const;
export const INBOX_STATUSES = ["pending", "answered", "expired", "withdrawn"] as const;

/** What sort of answer a question in plain words wants. */
export const QUESTION_CATEGORIES = ["confirmation", "choice", "open"] as const;

export const questionSchema = z.looseObject({
  v: z.literal(1),
  id: z.string(),
  kind: z.enum(INBOX_KINDS),
  title: z.string(),
  body: z.string().default(""),
  /** Whose question it is. */
  session_id: z.string(),
  trace_id: z.string(),
  agent: z.string(),
  /** Together with `key`, what tells it from others of its session. */
  span_id: z.string().optional(),
  key: z.string().optional(),
  /** Set when the question belongs to a run. */
  workflow_id: z.string().optional(),
  /** Sha-256 over the exact action; the answer is bound to it. */
  action_hash: z.string(),
  action: z.looseObject({ tool: z.string(), input: z.unknown() }).nullable().default(null),
  /** Why a person is asked, and what the action would do. */
  reason: z.string().default(""),
  impact: z.string().default(""),
  /** JSON Schema of the action's input: changed parameters are checked with it before the answer is taken. */
  input_schema: z.record(z.string(), z.unknown()).nullable().default(null),
  /** What "for this session" would allow; null when it cannot be given for more than this once. */
  grant: z.string().nullable().default(null),
  reversible: z.boolean().default(true),
  confirm_word: z.string().nullable().default(null),
  options: z.array(z.string()).default([]),
  category: z.enum(QUESTION_CATEGORIES).optional(),
  created_at: z.string(),
  /** Milliseconds of waiting by a live owner that are left; null = no deadline. */
  time_left_ms: z.number().nullable().default(null),
  on_timeout: z.enum(["abort", "approve"]).default("abort"),
});

export const answerSchema = z.looseObject({
  v: z.literal(1),
  id: z.string(),
  action_hash: z.string(),
  status: z.enum(["answered", "expired", "withdrawn"]),
  decision: z.enum(["approve", "deny", "answer"]),
  text: z.string().default(""),
  /** Changed parameters of the action, already validated by whoever asked. */
  set: z.record(z.string(), z.unknown()).default({}),
  /** `session`: what the question names as its `grant` needs no further answer from this agent. */
  scope: z.enum(["once", "session"]).default("once"),
  by: z.enum(["person", "timeout", "policy"]),
  answered_at: z.string(),
});

/** `<id>.wait.json`: who waits for the answer, and how long it still will. */
export const waitSchema = z.looseObject({
  v: z.literal(1),
  owner: z.object({ pid: z.int(), started: z.string() }).nullable(),
  time_left_ms: z.number().nullable(),
});

/** `<id>.ask-<n>.json`: what the person wants to know before deciding; `<id>.told-<n>.json`: what the agent says to it. */
export const followUpSchema = z.looseObject({ v: z.literal(1), id: z.string(), n: z.int().min(1), text: z.string(), at: z.string() });

export type FollowUp = z.infer<typeof followUpSchema>;
export type InboxStatus = (typeof INBOX_STATUSES)[number];
export type Wait = z.infer<typeof waitSchema>;
export type Question = z.infer<typeof questionSchema>;
export type Answer = z.infer<typeof answerSchema>;
export type QuestionCategory = (typeof QUESTION_CATEGORIES)[number];
export type InboxKind = (typeof INBOX_KINDS)[number];
