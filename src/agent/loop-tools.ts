import { z } from "zod";
import { TASK_STATUSES } from "../contract/event.ts";
import type { ToolSpec } from "../contract/model-call.ts";
import reflectText from "./reflect.md";
import updatePlanText from "./update-plan.md";

/** `update_plan` and `reflect` belong to the loop itself: they change what it does next, not the world. */
export const UPDATE_PLAN = "update_plan";
export const REFLECT = "reflect";

export const planInputSchema = z.object({
  tasks: z
    .array(
      z.object({
        id: z.string().min(1).max(64),
        description: z.string().min(1).max(2000),
        depends_on: z.array(z.string()).optional(),
        agent: z.string().min(1).optional().describe("Name of the agent that does this task; left out, it is yours"),
        status: z.enum(TASK_STATUSES).optional(),
      }),
    )
    .max(100),
});

const words = z.union([z.string(), z.number(), z.boolean()]).transform(String);

export const reflectInputSchema = z.object({
  goal_achieved: z.boolean(),
  progress: words.default(""),
  content: z.string().default(""),
  next_action: z.string().optional(),
  needs_user: z.union([z.boolean(), z.string()]).optional().describe("True, or the question, when a person has to decide before you can go on"),
  issues: z.union([z.string().transform((s) => [s]), z.array(words)]).optional(),
});

export type ReflectInput = z.infer<typeof reflectInputSchema>;

export function loopToolSpecs(): ToolSpec[] {
  return [
    { name: UPDATE_PLAN, description: updatePlanText.trim(), inputSchema: toJson(planInputSchema) },
    { name: REFLECT, description: reflectText.trim(), inputSchema: toJson(reflectInputSchema) },
  ];
}

export function toJson(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Record<string, unknown>;
  return json;
}

/** What a person is asked when the agent says that it cannot decide alone; undefined when it did not. */
export function questionOf(reflection: ReflectInput): string | undefined {
  const { needs_user: needs } = reflection;
  if (needs === undefined || needs === false || needs === "") return undefined;
  return typeof needs === "string" ? needs : (reflection.next_action ?? (reflection.content === "" ? "How should I go on?" : reflection.content));
}
