import { z } from "zod";

/** What an agent step must end with: the last fenced json block of its final message. */
export const agentOutputSchema = z.object({
  success: z.boolean(),
  summary: z.string(),
  outputs: z.record(z.string(), z.unknown()).optional(),
  error: z.string().nullish(),
});

export type AgentOutput = z.infer<typeof agentOutputSchema>;

/** `outputs` of a review step. */
export const reviewOutputsSchema = z.object({
  verdict: z.enum(["pass", "fail"]),
  findings: z.array(
    z.object({
      severity: z.enum(["error", "warning", "info"]),
      file: z.string().optional(),
      line: z.int().optional(),
      message: z.string(),
    }),
  ),
  suggestions: z.array(z.string()),
});

export type ReviewOutputs = z.infer<typeof reviewOutputsSchema>;
