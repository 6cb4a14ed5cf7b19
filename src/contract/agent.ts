import { z } from "zod";
import { nameFault } from "./name.ts";
import { PERMISSIONS } from "./permission.ts";

export const permissionSchema = z.enum(PERMISSIONS);

/** Frontmatter of `.crucible/agents/*.md`. Strict: an unknown key is an error with a suggestion. */
export const agentSchema = z
  .strictObject({
    $schema: z.string().optional().describe("Where an editor finds this schema"),
    name: z.string().refine((n) => nameFault(n) === undefined).describe("Lower-case letters, digits, dot, dash, underscore; at most 64"),
    description: z.string().trim().min(1).max(4096).describe("When to use this agent; other agents choose by it"),
    model: z.string().min(1).max(128).optional().describe("haiku, sonnet, opus or a full model id"),
    permissions: z.array(permissionSchema).describe("What the agent may do; its parent's rights are the ceiling"),
    enabled: z.boolean().default(true),
    enable_reflection: z.boolean().default(false).describe("Judge the own result before it is returned"),
    max_retries: z.int().min(0).max(10).default(1),
    reflection_criteria: z.string().max(16_384).optional(),
    requires_approval: z.array(z.string().min(1).max(128)).default([]).describe("Permission or tool names that ask a person each time"),
    approval_timeout: z.number().positive().max(86_400).optional().describe("Seconds; default 300"),
  })
  .describe("A Crucible agent");

export type AgentFrontmatter = z.infer<typeof agentSchema>;

export const AGENT_SOURCES = ["builtin", "claude", "system", "project"] as const;
export type AgentSource = (typeof AGENT_SOURCES)[number];

/** An agent as the rest of the program sees it, whatever file it came from. */
export type Agent = {
  name: string;
  description: string;
  /** As written: an alias or a full id; undefined takes the default, `inherit` the parent's. */
  model: string | undefined;
  /** "inherit" when the file names none (`.claude/agents` without tools). */
  permissions: readonly (typeof PERMISSIONS)[number][] | "inherit";
  enabled: boolean;
  enableReflection: boolean;
  maxRetries: number;
  reflectionCriteria: string | undefined;
  requiresApproval: readonly string[];
  approvalTimeoutS: number | undefined;
};
