import type { Modification, SubagentResult } from "../contract/session.ts";
import { frontmatter } from "../lib/emit-yaml.ts";
import { safeName } from "../lib/slug.ts";
import { codeSpan, plainMarkdown, tameMarkdown, wikilink } from "../lib/wikilink.ts";
import { splitSummary, summaryOf } from "./summary.ts";

/** Name of a result without `.md`, which is also what `session.md` links to. Foreign names become a safe one; the original stands in the frontmatter. */
export function resultName(agent: string, taskId: string): string {
  return `${safeName(agent)}-${taskId}`;
}

/** One subagent's file: what it was told, what it found, and its summary. */
export function renderResult(result: SubagentResult, session: { id: string; traceId: string }): string {
  const { findings } = splitSummary(result.text);
  const summary = summaryOf(result.text);
  const failure = result.error === null ? "" : `${result.error.type}: ${result.error.message}`;
  return `${frontmatter({
    session_id: session.id,
    parent: wikilink("session"),
    agent: result.agent,
    task_id: result.task_id,
    trace_id: session.traceId,
    parent_chain: result.parent_chain,
    spawned_at: result.spawned_at,
    completed_at: result.completed_at,
    duration_ms: Math.max(0, Math.round(result.duration_ms)),
    model: result.model,
    model_source: result.model_source,
    tokens: { input: result.tokens.input, output: result.tokens.output },
    cost_usd: result.cost_usd,
    permissions: result.permissions,
    constraint: result.constraint,
    status: result.status,
    error: result.error === null ? null : { type: result.error.type, message: result.error.message, stack: result.error.stack },
    denials: result.denials.map(({ action, reason }) => ({ action, reason })),
    reflection: result.reflection.map(({ attempt, pass, score, critique, improvement }) => ({ attempt, pass, score, critique, improvement })),
  })}
## Task

${quote(result.task)}

## Findings

${section(findings, failure)}
${changes(result.modifications ?? [])}
## Summary

${section(summary, failure)}
`;
}

/** The parameters that a person changed before the action ran, one line each. */
function changes(modifications: readonly Modification[]): string {
  if (modifications.length === 0) return "";
  const lines = modifications.flatMap(({ action, before, after }) =>
    Object.keys(after).flatMap((key) => {
      const [was, is] = [JSON.stringify(before[key]) ?? "(not set)", JSON.stringify(after[key]) ?? "(not set)"];
      return was === is ? [] : [`- ${plainMarkdown(action, 200)}: ${plainMarkdown(key, 80)}: ${codeSpan(was, 500)} → ${codeSpan(is, 500)}`];
    }),
  );
  return `\n## Changed by the user: before → after\n\n${lines.join("\n")}\n`;
}

function section(text: string, failure: string): string {
  return tameMarkdown(text.trim() === "" ? (failure === "" ? "Nothing was reported." : failure) : text);
}

function quote(text: string): string {
  const lines = tameMarkdown(text).split("\n");
  return lines.map((line) => `> ${line}`.trimEnd()).join("\n");
}
