import type { PlanTask } from "../contract/event.ts";
import type { ModelMessage } from "../contract/model-call.ts";
import { CHARACTERS_PER_TOKEN } from "../llm/estimate-tokens.ts";
import { bound, type Observation } from "./observation.ts";
import { planText } from "./plan.ts";

/** Rounds of calls and results that always survive. */
const KEEP_OBSERVATIONS = 5;

export type CompactInput = {
  request: string;
  messages: readonly ModelMessage[];
  observations: readonly Observation[];
  plan: readonly PlanTask[];
  guidance: readonly string[];
};

/**
 * A shorter conversation with the same meaning: the request, what was done so far in one line per call, the plan, the guidance,
 * and the last observations as they were. Without a model call, so that it costs nothing and cannot invent anything.
 */
export function compact(input: CompactInput, mostTokens: number): ModelMessage[] {
  const tailAt = tailStart(input.messages);
  const tail = input.messages.slice(tailAt);
  const kept = tail.reduce((n, m) => n + (m.role === "tool" ? m.results.length : 0), 0);
  const earlier = digest(input.observations.slice(0, Math.max(0, input.observations.length - kept)));
  const room = mostTokens * CHARACTERS_PER_TOKEN;
  const head = (digestRoom: number): string =>
    [
      input.request,
      "[The earlier conversation was shortened to fit the context window. What matters of it:]",
      input.plan.length === 0 ? "" : `Plan:\n${planText(input.plan)}`,
      input.guidance.length === 0 ? "" : `Guidance from the user:\n${input.guidance.map((g) => `- ${g}`).join("\n")}`,
      `Done so far:\n${bound(earlier, digestRoom)}`,
    ]
      .filter((part) => part !== "")
      .join("\n\n");
  const fixed = head(0).length;
  const tailRoom = Math.max(2_000, (room - fixed) * 0.7);
  const shortTail = fitTail(tail, tailRoom);
  const digestRoom = Math.max(500, room - fixed - JSON.stringify(shortTail).length);
  return [{ role: "user", content: head(digestRoom) }, ...shortTail];
}

/** Index of the reply with which the last observations begin. */
function tailStart(messages: readonly ModelMessage[]): number {
  let left = KEEP_OBSERVATIONS;
  for (let i = messages.length - 1; i > 0; i--) {
    const message = messages[i];
    if (message?.role !== "tool") continue;
    left -= message.results.length;
    if (left <= 0) return i - 1;
  }
  return Math.min(1, messages.length);
}

function digest(observations: readonly Observation[]): string {
  return observations
    .map((o) => `${o.tool} ${oneLine(JSON.stringify(o.input) ?? "", 120)} → ${o.ok ? "" : "failed: "}${oneLine(o.output, 120)}`)
    .join("\n");
}

/** Shortens results, the longest first, until they fit; calls and their order stay. */
function fitTail(tail: readonly ModelMessage[], room: number): ModelMessage[] {
  let most = 20_000;
  let fitted = [...tail];
  while (JSON.stringify(fitted).length > room && most > 100) {
    most = Math.floor(most / 2);
    fitted = tail.map((m) => (m.role === "tool" ? { ...m, results: m.results.map((r) => ({ ...r, output: bound(r.output, most) })) } : m));
  }
  return fitted;
}

function oneLine(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
