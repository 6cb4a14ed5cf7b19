import { z } from "zod";
import { durationMs } from "./duration.ts";

const duration = z
  .union([z.string(), z.number()])
  .refine((v) => durationMs(v) !== undefined, { error: "expected a duration such as 30s, 5m or 1h30m" });
const condition = z.union([z.boolean(), z.string()]);
const onFail = z.enum(["continue", "block", "fail"]);

const common = {
  name: z.string().min(1).max(64),
  timeout: duration.optional(),
  when: condition.optional(),
  input: z.record(z.string(), z.unknown()).optional(),
  output: z.string().min(1).optional(),
  on_fail: onFail.optional(),
  on_success: z.enum(["continue", "exit_loop"]).optional(),
  retry: z.int().min(0).max(10).optional(),
  network: z.boolean().optional(),
};

const agentStep = z.strictObject({
  ...common,
  type: z.literal("agent"),
  spell: z.string().min(1).optional(),
  prompt: z.string().min(1).optional().describe("Another name for spell"),
  agent: z.string().min(1).optional(),
  role: z.enum(["implement", "review", "fix"]).optional(),
  model: z.string().min(1).optional(),
  runner: z.enum(["auto", "model", "claude", "acp"]).optional(),
  mcp: z.array(z.string()).optional(),
});

const scriptStep = z.strictObject({ ...common, type: z.literal("script"), command: z.string().min(1) });
const mergeStep = z.strictObject({ ...common, type: z.literal("merge"), require_review: z.boolean().optional() });

const loopStep = z.strictObject({
  ...common,
  type: z.enum(["loop", "agent-loop"]),
  max_iterations: z.int().min(1).max(1000).default(10),
  on_max_iterations: z.enum(["block", "fail", "continue"]).default("block"),
  arbiter: z.string().min(1).optional(),
  steps: z.lazy((): z.ZodType<Step[]> => z.array(stepSchema).min(1)),
});

type Common = Pick<z.infer<typeof scriptStep>, keyof typeof common>;
export type Step =
  | z.infer<typeof agentStep>
  | z.infer<typeof scriptStep>
  | z.infer<typeof mergeStep>
  | (Common & {
      type: "loop" | "agent-loop";
      max_iterations: number;
      on_max_iterations: "block" | "fail" | "continue";
      arbiter?: string | undefined;
      steps: Step[];
    });

const stepSchema = z.discriminatedUnion("type", [agentStep, scriptStep, mergeStep, loopStep]);

export const grimoireSchema = z
  .strictObject({
    $schema: z.string().optional(),
    name: z.string().min(1).max(64),
    description: z.string().min(1),
    timeout: duration.optional(),
    steps: z.array(stepSchema).min(1),
  })
  .describe("A Crucible grimoire: the workflow for one bead");

export type Grimoire = z.infer<typeof grimoireSchema>;
