import { z } from "zod";
import { permissionSchema } from "./agent.ts";
import { errorRecordSchema, taskStartSchema } from "./session.ts";
import { costSchema, tokensSchema } from "./usage.ts";

/** The one event union. Screen, session folder, journal and (later) page and telemetry are listeners to it. */
const at = { v: z.literal(1), ts: z.string(), seq: z.int().min(0), trace_id: z.string() };
const run = { ...at, workflow_id: z.string() };
const step = { step: z.string(), path: z.string(), iteration: z.int().nullable().optional(), attempt: z.int().optional() };
/** In a session `span_id` says which agent speaks; in a journal the step's path does. */
const agent = { ...at, workflow_id: z.string().optional(), session_id: z.string().optional(), span_id: z.string().optional() };

export const LOOP_STATES = ["Idle", "Planning", "Acting", "Observing", "Reflecting", "Complete", "Failed"] as const;
export const AGENT_STATUSES = ["thinking", "writing", "running_command", "waiting", "idle"] as const;
export const TASK_STATUSES = ["pending", "in_progress", "done", "failed", "skipped"] as const;

export const planTaskSchema = z.object({
  id: z.string(),
  description: z.string(),
  depends_on: z.array(z.string()),
  agent: z.string().nullable(),
  status: z.enum(TASK_STATUSES),
});

export const eventSchema = z.discriminatedUnion("type", [
  z.object({ ...run, type: z.literal("workflow.started"), bead_id: z.string(), grimoire: z.string(), grimoire_hash: z.string() }),
  z.object({
    ...run, ...step, type: z.literal("workflow.step.started"), step_type: z.string(), input: z.unknown(), session_id: z.string().optional(),
  }),
  z.object({
    ...run, ...step, type: z.literal("workflow.step.completed"), status: z.string(), success: z.boolean(), summary: z.string().optional(),
    outputs: z.record(z.string(), z.unknown()).optional(), output: z.string().optional(), stdout: z.string().optional(), stderr: z.string().optional(),
    exit_code: z.int().nullable().optional(), changed_files: z.array(z.string()).optional(), git_before: z.string().optional(),
    git_after: z.string().optional(), bead_ids: z.array(z.string()).optional(), duration_ms: z.number(), tokens: tokensSchema.optional(),
    cost_usd: costSchema.optional(), truncated: z.boolean().optional(),
  }),
  z.object({ ...run, type: z.literal("workflow.loop.iteration"), loop: z.string(), iteration: z.int().min(1) }),
  z.object({ ...run, type: z.literal("workflow.blocked"), reason: z.string() }),
  z.object({ ...run, type: z.literal("workflow.completed"), status: z.string(), tokens: tokensSchema, cost_usd: costSchema, duration_ms: z.number() }),
  z.object({ ...run, ...step, type: z.literal("script.output"), stream: z.enum(["stdout", "stderr"]), text: z.string() }),

  z.object({
    ...at, type: z.literal("session.started"), session_id: z.string(), request: z.string(), agent: z.string(),
    /** Set when the session is work on a bead. */
    task: taskStartSchema.optional(),
  }),
  z.object({ ...at, type: z.literal("session.resumed"), session_id: z.string() }),
  /** What a turn began with: the user's words (null: go on with what was left) and what replay takes as given. */
  z.object({ ...at, type: z.literal("session.turn"), session_id: z.string(), message: z.string().nullable(), conditions: z.unknown() }),
  z.object({
    ...at, type: z.literal("session.guidance"), session_id: z.string(), text: z.string(),
    /** `answer`: it came as the answer to a question of the loop. */
    from: z.enum(["user", "answer"]).optional(),
  }),
  /** The work was told to end here, by the user or by its time limit; what it was about comes to an end after this. */
  z.object({ ...at, type: z.literal("session.stopped"), session_id: z.string(), reason: z.enum(["user", "time"]) }),
  z.object({
    ...at, type: z.literal("session.completed"), session_id: z.string(), status: z.string(), tokens: tokensSchema, cost_usd: costSchema,
    duration_ms: z.number(),
  }),
  /** The end of one attempt at a bead: what the agent reported, and what git says has changed. */
  z.object({
    ...at, type: z.literal("task.completed"), session_id: z.string(), bead_id: z.string(), status: z.string(), reason: z.string().nullable(), summary: z.string(),
    branch: z.string().nullable(), base: z.string(), commit: z.string().nullable(), changed_files: z.array(z.string()),
  }),

  z.object({
    ...agent, type: z.literal("agent.started"), agent: z.string(), task: z.string(), model: z.string(), model_source: z.string(), runner: z.string(),
    depth: z.int().min(0), permissions: z.array(permissionSchema), parent_span_id: z.string().nullable(), parent_chain: z.array(z.string()),
    definition_hash: z.string(),
    /** Of a subagent: names its result file. */
    task_id: z.string().optional(),
    /** What the parent was about: its plan task, else its request. */
    parent_attempt: z.string().nullable().optional(),
    /** Rights that the definition asked for and the parent does not have. */
    reduced: z.array(permissionSchema).optional(),
    /** The spawn named no rights, so the parent's are the ceiling. */
    inherited: z.boolean().optional(),
  }),
  z.object({ ...agent, type: z.literal("agent.queued"), agent: z.string(), depth: z.int().min(0) }),
  z.object({ ...agent, type: z.literal("agent.state"), from: z.enum(LOOP_STATES), to: z.enum(LOOP_STATES), iteration: z.int().min(0) }),
  z.object({ ...agent, type: z.literal("agent.status"), status: z.enum(AGENT_STATUSES) }),
  z.object({ ...agent, type: z.literal("agent.thinking"), content: z.string() }),
  z.object({ ...agent, type: z.literal("agent.output"), text: z.string() }),
  z.object({ ...agent, type: z.literal("agent.tool_call"), call_id: z.string(), tool: z.string(), input: z.unknown() }),
  z.object({
    ...agent, type: z.literal("agent.tool_result"), call_id: z.string(), tool: z.string(), ok: z.boolean(), output: z.string(), duration_ms: z.number(),
    /** What it changed, as a unified diff, for people; cut when it is very long. */
    diff: z.string().optional(),
  }),
  z.object({ ...agent, type: z.literal("agent.plan"), tasks: z.array(planTaskSchema) }),
  z.object({
    ...agent, type: z.literal("agent.reflection"), goal_achieved: z.boolean(), progress: z.string(), content: z.string(),
    next_action: z.string().optional(), needs_user: z.string().optional(), issues: z.array(z.string()).optional(),
  }),
  z.object({ ...agent, type: z.literal("agent.retry"), attempt: z.int(), delay_ms: z.number(), reason: z.string() }),
  z.object({ ...agent, type: z.literal("agent.compacted"), tokens_before: z.int(), tokens_after: z.int() }),
  z.object({ ...agent, type: z.literal("agent.usage"), model: z.string(), tokens: tokensSchema, cost_usd: costSchema, estimated: z.boolean() }),
  /** A program outside this process is about to be started; `external_session` is what it is resumed by. */
  z.object({
    ...agent, type: z.literal("agent.process"), runner: z.string(), version: z.string(), external_session: z.string(), resumed: z.boolean(), sandboxed: z.boolean(),
  }),
  z.object({ ...agent, type: z.literal("agent.stderr"), text: z.string() }),
  z.object({ ...agent, type: z.literal("agent.raw"), text: z.string() }),
  z.object({
    ...agent, type: z.literal("agent.completed"), agent: z.string(), status: z.string(), summary: z.string(), duration_ms: z.number(),
    tokens: tokensSchema, cost_usd: costSchema, error: errorRecordSchema.nullable(), file: z.string().optional(),
  }),
  z.object({
    ...agent, type: z.literal("model.request"), request_id: z.string(), hash: z.string(), request: z.unknown(),
    /** Left out for the conversation itself; the others stand beside it and are no part of it. */
    purpose: z.enum(["critique", "explanation"]).optional(),
  }),
  z.object({ ...agent, type: z.literal("model.reply"), request_id: z.string(), reply: z.unknown() }),

  z.object({ ...agent, type: z.literal("inbox.opened"), id: z.string(), key: z.string(), kind: z.string(), title: z.string(), body: z.string() }),
  /** A person asked back before deciding; the item stays open. */
  z.object({ ...agent, type: z.literal("inbox.context"), id: z.string(), question: z.string(), answer: z.string() }),
  z.object({
    ...agent, type: z.literal("inbox.closed"), id: z.string(), status: z.string(), decision: z.string(), by: z.string(), text: z.string(),
    /** Parameters of the action, when the person changed them. */
    before: z.unknown().optional(), after: z.unknown().optional(),
    /** Set when the approval holds for every call of this kind by this agent, until the session ends or it is revoked. */
    grant: z.string().optional(), agent: z.string().optional(),
  }),
  /** A call that ran without asking, because `id` had allowed its kind for the session. */
  z.object({ ...agent, type: z.literal("inbox.reused"), id: z.string(), grant: z.string(), tool: z.string(), call_id: z.string(), title: z.string() }),
  z.object({ ...agent, type: z.literal("inbox.revoked"), id: z.string(), grant: z.string() }),
  z.object({ ...agent, type: z.literal("warning"), message: z.string() }),
]);

export type CruEvent = z.infer<typeof eventSchema>;
export type EventType = CruEvent["type"];
export type LoopState = (typeof LOOP_STATES)[number];
export type AgentStatus = (typeof AGENT_STATUSES)[number];
export type PlanTask = z.infer<typeof planTaskSchema>;

/** What a producer says; the listener that owns the file adds version, time and number. */
export type NewEvent = CruEvent extends infer E ? (E extends CruEvent ? Omit<E, "v" | "ts" | "seq" | "trace_id"> : never) : never;
export type Emit = (event: NewEvent) => void;
