import type { NewEvent } from "../../contract/event.ts";
import type { ModelDelta } from "../../contract/model-call.ts";
import { inert, inertLine } from "../../lib/inert.ts";
import { cost } from "../figures.ts";
import { progressLine } from "../progress.ts";
import type { AgentRow, Call, ChatState } from "./chat-state.ts";
import { callLines, duration } from "./call-lines.ts";
import { type Line, line, span, spread, wrap } from "./line.ts";
import { planLines } from "./plan-lines.ts";
import { renderMarkdown, stableLength } from "./markdown.ts";

/** What an event changes, and the lines that it leaves for good. */
export function applyEvent(state: ChatState, event: NewEvent, now: number, width: number): Line[] {
  const spanId = "span_id" in event ? (event.span_id ?? "") : "";
  const agent = state.agents.find((a) => a.span === spanId);
  const isPrimary = agent === undefined || agent.depth === 0;
  switch (event.type) {
    case "agent.started":
      return [...flushReply(state, width), ...started(state, event, now)];
    case "agent.queued":
      state.inLine.add(spanId);
      return [];
    case "agent.state":
      if (isPrimary && state.working !== undefined) state.working.doing = DOING[event.to] ?? state.working.doing;
      return [];
    case "agent.output":
      return isPrimary ? finishReply(state, event.text, width) : [];
    case "agent.tool_call":
      if (QUIET.has(event.tool)) return [];
      state.calls.push({ id: event.call_id, span: spanId, agent: agent?.name ?? "", tool: event.tool, input: event.input, output: "", ok: undefined, startedMs: now, durationMs: 0, diff: undefined });
      if (agent !== undefined) agent.doing = `${inertLine(event.tool, 40)}`;
      return isPrimary ? flushReply(state, width) : [];
    case "agent.tool_result":
      return toolResult(state, event, isPrimary, width);
    case "agent.plan":
      if (isPrimary) state.plan = event.tasks;
      return [];
    case "agent.usage":
      return usage(state, event, agent);
    case "agent.retry":
      // What was printed of the broken reply stands in the scrollback; say so.
      if (isPrimary && state.working !== undefined) state.working.doing = RETRYING;
      return isPrimary ? [...dropReply(state), line(`  ↻ ${text(progressLine(event)).trim()}`, "yellow")] : [];
    case "agent.completed":
      return completed(state, event, agent, now, width);
    case "inbox.opened":
      state.asked.set(event.id, event.title);
      if (agent !== undefined) agent.status = "waiting";
      return flushReply(state, width);
    case "inbox.closed":
      return closed(state, event, agent);
    case "inbox.reused":
      return [[span("  ✓ ", "green"), span("allowed for this session"), span(` ${inertLine(event.title, 120)}`, "dim")]];
    case "session.guidance":
      return guidance(state, event.text, width);
    case "agent.compacted":
    case "warning":
      return [line(text(progressLine(event)), "yellow")];
    default:
      return [];
  }
}

/** A piece of a reply. Blocks that are whole go into the scrollback at once, so that a long answer can be read while it comes. */
export function applyDelta(state: ChatState, spanId: string, delta: ModelDelta, width: number, print = true): Line[] {
  const agent = state.agents.find((a) => a.span === spanId);
  if (agent !== undefined && agent.depth > 0) {
    if (delta.type === "text") agent.doing = "writing";
    if (delta.type === "thinking") agent.doing = "thinking";
    return [];
  }
  const { reply } = state;
  if (state.working?.doing === RETRYING && delta.type !== "restart") state.working.doing = "thinking";
  if (delta.type === "thinking") reply.thinking = true;
  if (delta.type !== "text") return [];
  reply.thinking = false;
  reply.text += delta.text;
  return print ? printUpTo(state, stableLength(reply.text), width) : [];
}

/** The user's own words, as they stand in the scrollback: line by line as they were written, of many the first and the last. */
export function userLines(words: string, width: number): Line[] {
  const lines = inert(words).replaceAll("\t", "  ").trimEnd().split("\n").flatMap((l) => wrap([span(l, "bold")], Math.max(8, width - 2)));
  const left = lines.length - MOST_OWN_LINES;
  const shown = left <= 1 ? lines : [...lines.slice(0, MOST_OWN_LINES - LAST_OWN_LINES), line(`… ${left.toLocaleString("en-US")} more lines`, "dim"), ...lines.slice(-LAST_OWN_LINES)];
  return [[], ...shown.map((l, i): Line => [span(i === 0 ? "› " : "  ", "blue"), ...l]), []];
}

const MOST_OWN_LINES = 12;
const LAST_OWN_LINES = 3;
const RETRYING = "waits to try again";
const DOING: Record<string, string> = { Planning: "thinking", Acting: "acting", Observing: "observing", Reflecting: "reflecting" };
/** Shown as the plan and the reflection that they are. */
const QUIET = new Set(["update_plan", "reflect"]);
/** The question and its answer have lines of their own, as agents do. */
const TOLD = new Set(["ask_user", "request_approval", "spawn_agent"]);

function started(state: ChatState, event: Extract<NewEvent, { type: "agent.started" }>, now: number): Line[] {
  const row: AgentRow = {
    span: event.span_id ?? "", parent: event.parent_span_id, name: inertLine(event.agent, 60), depth: event.depth, status: "running", startedMs: now, endedMs: undefined,
    costUsd: 0, doing: "thinking", turn: state.turn, task: inertLine(event.task, 200),
  };
  state.inLine.delete(row.span);
  state.agents = [...state.agents.filter((a) => a.span !== row.span), row];
  return event.depth > 0 ? [line(text(progressLine(event)), "blue")] : [];
}

function toolResult(state: ChatState, event: Extract<NewEvent, { type: "agent.tool_result" }>, isPrimary: boolean, width: number): Line[] {
  const call = state.calls.findLast((c) => c.id === event.call_id);
  if (call === undefined) return [];
  Object.assign(call, { ok: event.ok, output: event.output, durationMs: event.duration_ms, diff: event.diff } satisfies Partial<Call>);
  const agent = state.agents.find((a) => a.span === call.span);
  if (agent !== undefined) agent.doing = "thinking";
  if (!isPrimary || (TOLD.has(call.tool) && (event.ok || hasOwnLines(state, call)))) return [];
  return callLines(call, width, state.verbose);
}

/** An agent that ran says itself how it ended, and one that was in line when the work was stopped has nothing to say. */
function hasOwnLines(state: ChatState, { tool, input }: Call): boolean {
  const name = (input as { agent?: unknown } | null)?.agent;
  return tool === "spawn_agent" && (state.stopping || state.agents.some((a) => a.depth > 0 && a.turn === state.turn && a.name === name));
}

function usage(state: ChatState, event: Extract<NewEvent, { type: "agent.usage" }>, agent: AgentRow | undefined): Line[] {
  state.tokens += event.tokens.input + event.tokens.output;
  state.costUsd = state.costUsd === null || event.cost_usd === null ? null : state.costUsd + event.cost_usd;
  state.estimated ||= event.estimated;
  if (agent !== undefined) agent.costUsd = agent.costUsd === null || event.cost_usd === null ? null : agent.costUsd + event.cost_usd;
  return [];
}

function completed(state: ChatState, event: Extract<NewEvent, { type: "agent.completed" }>, agent: AgentRow | undefined, now: number, width: number): Line[] {
  if (agent !== undefined) Object.assign(agent, { endedMs: now, status: event.error !== null ? "failed" : event.status === "partial" ? "partial" : "completed" });
  if (agent === undefined || agent.depth === 0) {
    const plan = leftOver(state, width);
    state.plan = [];
    state.inLine.clear();
    return [...flushReply(state, width), ...plan];
  }
  const stopped = event.error?.type === "aborted";
  const ending = stopped ? `  ■ ${agent.name} was stopped` : text(progressLine(event));
  const style = stopped || event.status === "partial" ? "yellow" : event.error !== null || event.status !== "completed" ? "red" : "green";
  // Which of several agents it was, and where the details are.
  const figures = [duration(event.duration_ms), cost(event.cost_usd), ...(event.file === undefined ? [] : [inertLine(event.file, 80)])].join(" · ");
  return [line(ending, style), spread([span(`    ${agent.name}: ${agent.task}`, "dim")], [span(` ${figures}`, "dim")], width)];
}

/** A plan that was carried out needs one line; one that was not shows what is left. */
function leftOver({ plan }: ChatState, width: number): Line[] {
  if (plan.length === 0) return [];
  const lines = planLines(plan, width);
  return [[], ...(plan.every((t) => t.status === "done") ? lines.slice(0, 1) : lines), []];
}

function closed(state: ChatState, event: Extract<NewEvent, { type: "inbox.closed" }>, agent: AgentRow | undefined): Line[] {
  const title = state.asked.get(event.id);
  state.questions = state.questions.filter((p) => p.question.id !== event.id);
  if (agent !== undefined) agent.status = "running";
  const what = title === undefined ? "" : ` ${inertLine(title, 120)}`;
  const said = event.text === "" ? "" : ` · ${inertLine(event.text, 160)}`;
  const changes = event.after === undefined ? [] : [line(`    changed: ${inertLine(changed(event.before, event.after), 300)}`, "dim")];
  const yes = event.decision !== "deny";
  const word = event.by === "timeout" ? `nobody answered in time: ${event.decision}` : `${DECIDED[event.decision] ?? event.decision}${event.grant === undefined ? "" : " for this session"}`;
  return [[span(yes ? "  ✓ " : "  ✗ ", yes ? "green" : "red"), span(word), span(what, "dim"), span(said, "dim")], ...changes];
}

const DECIDED: Record<string, string> = { approve: "approved", deny: "denied", answer: "answered" };

function changed(before: unknown, after: unknown): string {
  const [a, b] = [before as Record<string, unknown>, after as Record<string, unknown>];
  return Object.keys(b).filter((k) => JSON.stringify(a?.[k]) !== JSON.stringify(b[k])).map((k) => `${k}: ${JSON.stringify(a?.[k])} → ${JSON.stringify(b[k])}`).join("; ");
}

function guidance(state: ChatState, words: string, width: number): Line[] {
  state.queued = state.queued.filter((q) => q !== words);
  if (state.said === words) {
    state.said = undefined;
    return [];
  }
  return [...flushReply(state, width), [span("  ↳ ", "blue"), span(inertLine(words, Math.max(20, width - 6)), "bold")]];
}

function finishReply(state: ChatState, whole: string, width: number): Line[] {
  if (!whole.startsWith(state.reply.text.slice(0, state.reply.printed))) state.reply.printed = 0;
  state.reply.text = whole;
  state.printed.push(whole);
  return flushReply(state, width);
}

/** Everything of the reply that is not printed yet; the next one starts anew. */
export function flushReply(state: ChatState, width: number): Line[] {
  const lines = printUpTo(state, state.reply.text.length, width);
  state.reply = { text: "", printed: 0, thinking: false };
  return lines;
}

function dropReply(state: ChatState): Line[] {
  const cutOff = state.reply.printed > 0 ? [line("  … this reply broke off", "dim")] : [];
  state.reply = { text: "", printed: 0, thinking: false };
  return cutOff;
}

function printUpTo(state: ChatState, end: number, width: number): Line[] {
  const { reply } = state;
  const piece = reply.text.slice(reply.printed, end);
  if (end <= reply.printed) return [];
  reply.printed = end;
  const lines = renderMarkdown(piece, width);
  return lines.length === 0 ? [] : [[], ...lines, []];
}

function text(progress: string | undefined): string {
  return progress ?? "";
}
