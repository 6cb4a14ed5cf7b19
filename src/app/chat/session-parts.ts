import { type Budget, openBudget } from "../../agent/budget.ts";
import type { Env } from "../../config/paths.ts";
import type { CruEvent, Emit } from "../../contract/event.ts";
import type { StreamModel } from "../../contract/model-call.ts";
import type { AnyTool } from "../../contract/tool.ts";
import { openQueue, type Queue } from "../../lib/queue.ts";
import { createRedactor, type Redactor } from "../../lib/redact.ts";
import { createStreamModel } from "../../llm/stream-model.ts";
import { noteTools } from "../notes.ts";
import { startedChildren } from "./children.ts";
import type { Project } from "./open-chat.ts";
import { spentBefore } from "./spent-before.ts";

/** What all agents of a session share, whoever its first agent is. */
export type SessionParts = { redactor: Redactor; stream: StreamModel; notes: readonly AnyTool[]; queue: Queue; budget: Budget; children: Set<string> };

export function sessionParts(input: { project: Project; env: Env; events: readonly CruEvent[]; emit: Emit }): SessionParts {
  const { project, env, events } = input;
  const { settings } = project;
  return {
    redactor: createRedactor(env),
    stream: createStreamModel({ env }),
    notes: noteTools({ paths: project.paths, settings, env }),
    queue: openQueue({ maxConcurrent: settings.queue.max_concurrent, perGroup: settings.queue.providers }),
    budget: openBudget({ usd: settings.limits.budget_usd, tokens: settings.limits.budget_tokens }, spentBefore(events), (share) =>
      input.emit({ type: "warning", message: `${Math.round(share * 100)} % of the budget is used` }),
    ),
    children: startedChildren(events),
  };
}
