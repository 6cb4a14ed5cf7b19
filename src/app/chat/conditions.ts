import { z } from "zod";
import { permissionSchema } from "../../contract/agent.ts";
import type { CruEvent } from "../../contract/event.ts";
import type { AnyTool } from "../../contract/tool.ts";
import type { ChatInput, Primary, Project } from "./open-chat.ts";
import type { Sandbox } from "./tool-set.ts";

/** The version of what a session records for a replay; `docs/replay.md` describes it. */
export const RECORDING_VERSION = 1;

/**
 * What a turn ran under that came from the command line, the settings and the machine. A replay takes it as given;
 * definitions, prompts, tools and the loop itself are those of today, because changes in them are what it looks for.
 */
export const conditionsSchema = z.looseObject({
  recording: z.int().min(1),
  agent: z.string(),
  model: z.string(),
  permissions: z.array(permissionSchema),
  settings: z.looseObject({
    model: z.string(),
    permissions: z.object({ allow: z.array(permissionSchema), deny: z.array(permissionSchema) }),
    loop: z.object({ max_iterations: z.number(), window_tokens: z.number().nullable() }),
    queue: z.object({ max_concurrent: z.number(), providers: z.record(z.string(), z.number()) }),
    limits: z.object({ children_total: z.number(), budget_usd: z.number().nullable(), budget_tokens: z.number().nullable(), time: z.union([z.string(), z.number()]) }),
  }),
  sandbox: z.object({ mode: z.enum(["required", "external", "off"]), works: z.boolean() }),
  /** What the loop and the gates have to know of the tools of MCP servers; the rest is in the requests. */
  mcp: z.array(z.looseObject({
    name: z.string(), changes: z.boolean(), needs: z.array(permissionSchema), asks: z.object({ reason: z.string(), reversible: z.boolean() }).nullable(),
  })).default([]),
  /** What was said on the command line and holds for the whole session, also for who takes it up again. */
  flags: z.looseObject({ deny: z.array(permissionSchema), budget_usd: z.number().nullable(), max_iterations: z.number().nullable() }).optional(),
  /** The agents that could be used, whoever trusted them then. */
  agents: z.array(z.looseObject({ name: z.string(), path: z.string(), hash: z.string() })),
});

export type Conditions = z.infer<typeof conditionsSchema>;

export function conditionsOf(project: Project, primary: Primary, given: { sandbox: Sandbox; mcp: readonly AnyTool[]; flags: Flags }): Conditions {
  const { sandbox, mcp, flags } = given;
  const { model, permissions, loop, queue, limits } = project.settings;
  return {
    recording: RECORDING_VERSION,
    agent: primary.name,
    model: primary.model,
    permissions: [...primary.permissions],
    settings: { model, permissions, loop, queue, limits },
    sandbox: { mode: sandbox.mode, works: sandbox.works },
    mcp: mcp.map(({ name, changes, needs, asks }) => ({ name, changes, needs: [...needs], asks: asks ?? null })),
    flags: { deny: [...flags.deny], budget_usd: flags.budgetUsd ?? null, max_iterations: flags.maxIterations ?? null },
    agents: project.agents.map(({ name, path, hash }) => ({ name, path, hash })),
  };
}

type Flags = Pick<ChatInput, "deny" | "budgetUsd" | "maxIterations">;

/** The flags of a session that is taken up again. Rights that were denied stay denied; a limit is that of before unless another is given. */
export function withRecordedFlags<F extends Flags>(now: F, recorded: readonly CruEvent[]): F {
  const turn = recorded.findLast((e) => e.type === "session.turn");
  const before = turn?.type === "session.turn" ? conditionsSchema.safeParse(turn.conditions).data?.flags : undefined;
  if (before === undefined) return now;
  return {
    ...now,
    deny: [...new Set([...before.deny, ...now.deny])],
    budgetUsd: now.budgetUsd ?? before.budget_usd ?? undefined,
    maxIterations: now.maxIterations ?? before.max_iterations ?? undefined,
  };
}
