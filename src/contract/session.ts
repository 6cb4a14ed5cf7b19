import { z } from "zod";
import { permissionSchema } from "./agent.ts";
import type { ModelSource } from "./model.ts";
import type { Permission } from "./permission.ts";
import { costSchema, type Tokens, tokensSchema } from "./usage.ts";

export const SESSION_STATUSES = ["running", "waiting", "blocked", "completed", "failed", "cancelled", "interrupted"] as const;
export const SUBAGENT_STATUSES = ["completed", "partial", "failed", "denied", "timeout"] as const;
export type SessionStatus = (typeof SESSION_STATUSES)[number];
export type SubagentStatus = (typeof SUBAGENT_STATUSES)[number];

/** Frontmatter and text of `{agent}-{task_id}.md`. */
export type SubagentResult = {
  agent: string;
  task_id: string;
  parent_chain: readonly string[];
  spawned_at: string;
  completed_at: string;
  duration_ms: number;
  model: string;
  model_source: ModelSource;
  tokens: Tokens;
  cost_usd: number | null;
  permissions: readonly Permission[];
  /** How the parent narrowed the rights, in the words of the spawn. */
  constraint?: string | undefined;
  status: SubagentStatus;
  error: ErrorRecord | null;
  denials: readonly { action: string; reason: string }[];
  /** Parameters that a person changed before the action ran. */
  modifications?: readonly Modification[];
  reflection: readonly { attempt: number; pass: boolean; score: number; critique: string; improvement: string }[];
  /** What it was told to do, and its final message. */
  task: string;
  text: string;
};

export type Modification = { action: string; before: Readonly<Record<string, unknown>>; after: Readonly<Record<string, unknown>> };

/** What makes a session an attempt at a bead; known before anything is started, so that a killed one can go on. */
export const taskStartSchema = z.object({ bead_id: z.string(), in_place: z.boolean() });

export const errorRecordSchema = z.object({ type: z.string(), message: z.string(), stack: z.string().optional() });

export const traceEntrySchema = z.looseObject({
  trace_id: z.string(),
  span_id: z.string(),
  parent_span_id: z.string().nullable(),
  agent: z.string(),
  parent_chain: z.array(z.string()),
  depth: z.int().min(0),
  model: z.string(),
  model_source: z.enum(["definition", "default", "override"]),
  status: z.string(),
  started_at: z.string(),
  completed_at: z.string().nullable(),
  duration_ms: z.number().nullable(),
  tokens: tokensSchema,
  cost_usd: costSchema,
  task: z.string(),
  /** What the parent was about: its plan task, else its request. */
  parent_attempt: z.string().nullable(),
  error: errorRecordSchema.nullable(),
  file: z.string(),
});

/** `metadata.json` of a session folder. Loose, so that fields of a newer minor release survive a rewrite. */
export const sessionMetadataSchema = z.looseObject({
  schema: z.literal(1),
  session_id: z.string(),
  trace_id: z.string(),
  status: z.enum(SESSION_STATUSES),
  started_at: z.string(),
  completed_at: z.string().nullable(),
  request: z.string(),
  depth: z.int().min(0),
  owner: z.object({ pid: z.int(), started: z.string() }).nullable(),
  primary: z.object({ agent: z.string(), model: z.string(), model_source: z.string(), version: z.string() }),
  subagents: z.array(z.string()),
  tokens: tokensSchema,
  cost_usd: costSchema,
  cost_estimated: z.boolean(),
  queue: z.object({ max_depth_seen: z.int().min(0), order: z.array(z.string()) }),
  permissions: z.array(
    z.looseObject({ agent: z.string(), span_id: z.string(), granted: z.array(permissionSchema), inherited: z.boolean(), reduced: z.array(permissionSchema) }),
  ),
  model_overrides: z.array(z.looseObject({ agent: z.string(), model: z.string() })),
  approvals: z.array(z.looseObject({ id: z.string(), action: z.string(), at: z.string() })),
  denials: z.array(z.looseObject({ id: z.string(), action: z.string(), reason: z.string(), at: z.string() })),
  modifications: z.array(z.looseObject({ id: z.string(), action: z.string(), before: z.unknown(), after: z.unknown(), at: z.string() })),
  trace: z.array(traceEntrySchema),
  /** Questions that wait for a person. */
  waiting: z.array(z.looseObject({ id: z.string(), kind: z.string(), title: z.string() })).default([]),
  /** How the agent runs; and of a program outside this process, what it is resumed by. */
  runner: z.string().optional(),
  process: z.looseObject({ version: z.string(), external_session: z.string(), sandboxed: z.boolean() }).optional(),
  /** Set when the session is work on a bead; after its end with what came of it. */
  task: z
    .looseObject({
      ...taskStartSchema.shape,
      reason: z.string().nullable().optional(), summary: z.string().optional(), branch: z.string().nullable().optional(), base: z.string().optional(),
      commit: z.string().nullable().optional(), changed_files: z.array(z.string()).optional(),
    })
    .optional(),
  /** Time that an owner was at work, by a clock that does not jump; over all resumes. */
  active_ms: z.number().min(0).default(0),
});

export type SessionMetadata = z.infer<typeof sessionMetadataSchema>;
export type TraceEntry = z.infer<typeof traceEntrySchema>;
export type TaskStart = z.infer<typeof taskStartSchema>;
export type ErrorRecord = z.infer<typeof errorRecordSchema>;
