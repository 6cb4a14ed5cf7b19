import { z } from "zod";

export const BEAD_STATUSES = ["open", "in_progress", "blocked", "deferred", "closed"] as const;
export const BEAD_TYPES = ["bug", "feature", "task", "epic", "chore"] as const;

/** One line of `.beads/issues.jsonl`; loose, because the file belongs to beads and keys that we do not know must survive. */
export const beadSchema = z.looseObject({
  id: z.string().min(1),
  title: z.string(),
  description: z.string().optional(),
  design: z.string().optional(),
  acceptance_criteria: z.string().optional(),
  notes: z.string().optional(),
  status: z.enum(BEAD_STATUSES).default("open"),
  priority: z.int().min(0).max(4).default(2),
  issue_type: z.string().default("task"),
  assignee: z.string().optional(),
  labels: z.array(z.string()).default([]),
  dependencies: z
    .array(z.looseObject({ issue_id: z.string(), depends_on_id: z.string(), type: z.string() }))
    .default([]),
  created_at: z.string().optional(),
  updated_at: z.string().optional(),
  closed_at: z.string().optional(),
  close_reason: z.string().optional(),
});

export type Bead = z.infer<typeof beadSchema>;
