import { z } from "zod";
import type { Outcome } from "../contract/runner.ts";
import critiquePrompt from "./critique.md";
import type { Child, ChildEnd, SpawnDeps, Suspended } from "./spawn.ts";

/** One look of an agent at its own result. */
export type ReflectionAttempt = { attempt: number; pass: boolean; score: number; critique: string; improvement: string };

const critiqueSchema = z.object({
  pass: z.boolean(),
  score: z.coerce.number().min(0).max(1).catch(0),
  critique: z.string().default(""),
  improvement: z.string().default(""),
});

/** Runs a child; with `enable_reflection` it judges its own result and tries again, at most `max_retries` times. Off: one run, no extra call. */
export async function runWithReflection(child: Child, deps: Pick<SpawnDeps, "runAgent" | "critique" | "judged">): Promise<ChildEnd | Suspended> {
  const agent = child.entry.value;
  const attempts: { outcome: Outcome; judged: ReflectionAttempt }[] = [];
  const earlier = agent.enableReflection ? deps.judged(child) : [];
  let prompt = child.task;
  for (let attempt = 1; ; attempt++) {
    const before = earlier[attempt - 1];
    const outcome = before === undefined ? await deps.runAgent(child, prompt) : finished(before.text);
    if (outcome.status === "suspended") return outcome;
    if (!agent.enableReflection || outcome.status !== "completed") return { ...outcome, reflection: attempts.map((a) => a.judged) };
    const judged = readCritique(before?.critique ?? (await deps.critique(child, critiqueRequest(child, outcome.text))), attempt);
    attempts.push({ outcome, judged });
    const history = attempts.map((a) => a.judged);
    if (judged.pass) return { ...totals(attempts, outcome), reflection: history };
    if (attempt > agent.maxRetries) return { ...totals(attempts, best(attempts)), status: "partial", reflection: history };
    prompt = retryPrompt(child.task, outcome.text, judged);
  }
}

function finished(text: string): Outcome {
  return { status: "completed", text, output: null, tokens: { input: 0, output: 0 }, costUsd: 0, costEstimated: false, error: null, denials: [] };
}

function critiqueRequest(child: Child, result: string): string {
  const criteria = child.entry.value.reflectionCriteria ?? "- Does the result do everything that the task asks?\n- Is every statement in it supported by what was found?";
  return `${critiquePrompt.trim()}\n\n## Criteria\n${criteria.trim()}\n\n## Task\n${child.task}\n\n## Result\n${result}`;
}

/** The last JSON object of the critique; one that cannot be read counts as not passed. */
function readCritique(text: string, attempt: number): ReflectionAttempt {
  for (const candidate of [...text.matchAll(/```(?:json)?\s*\n([\s\S]*?)```/g)].map((m) => m[1] ?? "").toReversed().concat(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1))) {
    try {
      const parsed = critiqueSchema.safeParse(JSON.parse(candidate));
      if (parsed.success) return { attempt, ...parsed.data };
    } catch {
      // Not JSON: the next candidate may be.
    }
  }
  return { attempt, pass: false, score: 0, critique: text.trim(), improvement: "" };
}

function retryPrompt(task: string, result: string, judged: ReflectionAttempt): string {
  return `${task}\n\n## Your earlier attempt\n${result}\n\n## What was wrong with it\n${judged.critique}\n${judged.improvement}\n\nDo the task again, better.`;
}

/** Highest score, then the latest. */
function best(attempts: readonly { outcome: Outcome; judged: ReflectionAttempt }[]): Outcome {
  const sorted = [...attempts].sort((a, b) => b.judged.score - a.judged.score || b.judged.attempt - a.judged.attempt);
  const first = sorted[0];
  if (first === undefined) throw new Error("no attempt to choose from");
  return first.outcome;
}

/** The chosen outcome with what all attempts together used. */
function totals(attempts: readonly { outcome: Outcome }[], chosen: Outcome): Outcome {
  const tokens = { input: 0, output: 0 };
  let costUsd: number | null = 0;
  for (const { outcome } of attempts) {
    tokens.input += outcome.tokens.input;
    tokens.output += outcome.tokens.output;
    costUsd = costUsd === null || outcome.costUsd === null ? null : costUsd + outcome.costUsd;
  }
  return { ...chosen, tokens, costUsd };
}
