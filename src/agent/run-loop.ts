import type { Emit, PlanTask } from "../contract/event.ts";
import type { AgentIdentity } from "../contract/runner.ts";
import type { ErrorRecord } from "../contract/session.ts";
import type { AnyTool, ToolResult } from "../contract/tool.ts";
import { act } from "./act.ts";
import { messageRedactor, modelCaller, type ModelDeps } from "./ask-model.ts";
import type { Authorize } from "./call-tool.ts";
import { estimatePrompt, estimateTokens } from "../llm/estimate-tokens.ts";
import { compact } from "./compact.ts";
import { loopToolSpecs, questionOf, REFLECT, type ReflectInput, toJson } from "./loop-tools.ts";
import type { LoopMemory, LoopQuestion, OpenReply } from "./memory.ts";
import { boundClean, type Observation } from "./observation.ts";
import { progressReport } from "./report.ts";
import { watchRepetition } from "./repetition.ts";
import { startMachine } from "./state-machine.ts";

export type LoopInput = {
  agent: AgentIdentity;
  system: string;
  prompt: string;
  /** A full model id. */
  model: string;
  workspace: string;
  maxIterations: number;
  windowTokens: number;
  maxOutputTokens: number;
  /** Only the primary is asked to look back before it ends. */
  primary: boolean;
  memory: LoopMemory;
};

export type LoopDeps = Omit<ModelDeps, "who"> & {
  emit: Emit;
  tools: readonly AnyTool[];
  authorize: Authorize;
  startTask(task: PlanTask, key: string): Promise<ToolResult>;
  /** What the user said while the agent worked. */
  takeGuidance(): string[];
  /** Monotonic milliseconds. */
  now(): number;
};

export type LoopEnd = {
  status: "complete" | "failed" | "blocked" | "cancelled";
  reason: "answered" | "goal_achieved" | "max_iterations" | "needs_person" | "over_budget" | "stopped" | "error" | "aborted";
  text: string;
  iterations: number;
  error: ErrorRecord | null;
  hint: string;
  /** What has to be answered before it can go on. */
  inboxId: string | null;
};

/** Plan, act, observe, reflect, until the goal is reached or somebody is needed. Never throws for what model, tools or people do. */
export async function runLoop(input: LoopInput, deps: LoopDeps): Promise<LoopEnd> {
  const { memory } = input;
  const who = { session_id: input.agent.sessionId, span_id: input.agent.spanId };
  const specs = [...deps.tools.map((t) => ({ name: t.name, description: t.description, inputSchema: { ...(t.inputJson ?? toJson(t.input)) } })), ...loopToolSpecs()];
  const setup = { model: input.model, system: input.system, tools: specs, maxOutputTokens: input.maxOutputTokens };
  const callModel = modelCaller(setup, { ...deps, who });
  // Characters of one result: a quarter of the window, so that a single one can never fill it.
  const mostOutput = Math.max(1000, Math.floor((input.windowTokens / 4) * 3));
  const actDeps = { ...deps, tools: new Map(deps.tools.map((tool) => [tool.name, tool])), who, workspace: input.workspace, mostOutput };
  const repeated = watchRepetition();
  const clean = messageRedactor(deps.redact);
  const system = deps.redact(input.system);
  // Recorded in full by an earlier process.
  for (const [id, o] of memory.open?.done ?? []) memory.open?.done.set(id, { ...o, output: boundClean(o.output, mostOutput, deps.redact) });
  let iterations = 0;

  const machine = startMachine((from, to) => deps.emit({ type: "agent.state", ...who, from, to, iteration: iterations }));
  let planning = machine.to("Planning");
  if (memory.question !== undefined) {
    // Asked in an earlier process, after the calls of its reply had all run.
    if (memory.open !== undefined) observe(memory.open, [...memory.open.done.values()]);
    const unanswered = await consult(memory.question);
    if (unanswered !== undefined) return unanswered;
  }

  for (;;) {
    if (memory.open === undefined) hear(deps.takeGuidance(), "user");
    const reply = memory.open ?? (await nextReply());
    if ("status" in reply) {
      if (reply.status !== "blocked") planning.to("Failed");
      return reply;
    }
    const acting = planning.to("Acting");
    const acted = await act(reply, memory, actDeps);
    if (acted.kind === "suspended") return end("blocked", "needs_person", report(`\`cru inbox show ${acted.inboxId}\``), { inboxId: acted.inboxId });

    const observing = acting.to("Observing");
    const stuck = observe(reply, acted.observations);

    const reflecting = observing.to("Reflecting");
    const answer = judge(reply, acted.reflection);
    if (answer !== undefined) {
      reflecting.to("Complete");
      return end("complete", acted.reflection === undefined ? "answered" : "goal_achieved", answer);
    }
    if (deps.signal.aborted) {
      reflecting.to("Failed");
      return end("cancelled", "aborted", memory.lastText);
    }
    const question = acted.reflection === undefined ? undefined : questionOf(acted.reflection);
    if (question !== undefined || stuck !== undefined) {
      const title = question ?? `The same call was made three times with the same result: ${stuck?.tool ?? ""}`;
      const stopped = await consult({ key: `loop-${memory.questions + 1}`, kind: "guidance", title, body: report() });
      if (stopped !== undefined) return stopped;
    }
    if (iterations >= input.maxIterations) {
      reflecting.to("Failed");
      return end("blocked", "max_iterations", report());
    }
    planning = reflecting.to("Planning");
  }

  /** Plan: the next reply of the model, or why there is none. */
  async function nextReply(): Promise<OpenReply | LoopEnd> {
    shorten(0.8);
    const force = memory.held === undefined ? undefined : REFLECT;
    let reply = await callModel(memory.messages, force);
    if (reply.ok === false && reply.kind === "context_too_long" && shorten(0.4)) reply = await callModel(memory.messages, force);
    while (reply.ok === true && reply.stop === "pause") {
      memory.messages = [...memory.messages, reply.message];
      reply = await callModel(memory.messages);
    }
    if (reply.ok === "suspended") return end("blocked", "needs_person", report("the budget is used up, and may be raised"), { inboxId: reply.inboxId });
    if (reply.ok === "over_budget") return end("blocked", "over_budget", report(), { hint: reply.message });
    if (!reply.ok) {
      if (reply.kind === "aborted") return end("cancelled", "aborted", memory.lastText);
      return end("failed", "error", memory.lastText, { error: failure(reply.kind, reply.message), hint: reply.hint });
    }
    memory.messages = [...memory.messages, reply.message];
    if (reply.text !== "" && memory.held === undefined) memory.lastText = reply.text;
    if (reply.stop === "refusal") return end("failed", "error", reply.text, { error: failure("refusal", "the model refused to answer") });
    memory.open = { text: reply.text, calls: reply.toolCalls, done: new Map(), started: new Set() };
    return memory.open;
  }

  /** Observe: the results go into the conversation; returns a call that goes round in circles. */
  function observe(reply: OpenReply, observations: readonly Observation[]): Observation | undefined {
    memory.open = undefined;
    if (reply.calls.length === 0) return undefined;
    iterations += 1;
    const results = observations.map(({ callId, tool, ok, output }) => ({ call_id: callId, tool, ok, output }));
    memory.messages = [...memory.messages, { role: "tool", results }];
    return observations.filter((o) => o.tool !== REFLECT).find((o) => repeated(deps.redact({ tool: o.tool, input: o.input, output: o.output })));
  }

  /** Reflect: the answer when the work is done, undefined when it goes on. */
  function judge(reply: OpenReply, reflection: ReflectInput | undefined): string | undefined {
    const { held } = memory;
    memory.held = undefined;
    // The one look back was asked for: silence counts as achieved, and it is never asked for again.
    if (held !== undefined && reflection?.goal_achieved !== false) return held;
    if (reflection?.goal_achieved === true) return reply.text || memory.lastText || reflection.content;
    if (reply.calls.length > 0) return undefined;
    if (!input.primary || !memory.changedSinceReflect || memory.nudged) return reply.text;
    memory.nudged = true;
    memory.held = reply.text;
    memory.messages = [...memory.messages, { role: "user", content: "Before you finish: look back at what you changed and call `reflect`." }];
    return undefined;
  }

  function hear(texts: readonly string[], from: "user" | "answer"): void {
    // Said in an earlier process that ended before it could be passed on.
    const all = [...memory.unheard.splice(0), ...texts];
    if (all.length === 0) return;
    for (const text of texts) {
      memory.guidance.push(text);
      deps.emit({ type: "session.guidance", session_id: who.session_id, text, from });
    }
    const content = `Guidance from the user: ${all.join("\n")}\nUpdate your plan accordingly.`;
    memory.messages = [...memory.messages, { role: "user", content }];
  }

  /** Asks a person; undefined means that the loop goes on with the answer. */
  async function consult(question: LoopQuestion): Promise<LoopEnd | undefined> {
    memory.questions += 1;
    memory.question = undefined;
    const asked = await deps.ask({ ...question, options: [], reversible: true, action: null });
    if (asked.kind === "suspended") return end("blocked", "needs_person", report(question.title), { inboxId: asked.inboxId, hint: question.title });
    if (asked.answer.decision === "deny") return end("blocked", "stopped", report(), { hint: asked.answer.text });
    if (question.kind === "budget") deps.budget.extend();
    else hear([asked.answer.text === "" ? "go on" : asked.answer.text], "answer");
    return undefined;
  }

  /** Compacts when the conversation fills its share of the window. */
  function shorten(share: number): boolean {
    const most = Math.floor((input.windowTokens - Math.min(input.maxOutputTokens, input.windowTokens / 4)) * share);
    const messagesNow = clean(memory.messages);
    const before = estimatePrompt({ system, messages: messagesNow });
    if (before <= most) return false;
    const room = Math.max(500, Math.floor(most * 0.6) - estimateTokens(system));
    // A cut could go through the middle of a secret and leave halves that nobody recognises: first clean, then cut.
    const { observations, plan, guidance } = memory;
    const messages = compact({ ...deps.redact({ observations, plan, guidance, request: input.prompt }), messages: messagesNow }, room);
    const after = estimatePrompt({ system, messages });
    if (after >= before) return false;
    memory.messages = messages;
    deps.emit({ type: "agent.compacted", ...who, tokens_before: before, tokens_after: after });
    return true;
  }

  function report(waitsFor?: string): string {
    return progressReport(memory, iterations, waitsFor);
  }

  function end(status: LoopEnd["status"], reason: LoopEnd["reason"], text: string, more: Partial<LoopEnd> = {}): LoopEnd {
    return { status, reason, text, iterations, error: null, hint: "", inboxId: null, ...more };
  }
}

/** With the place where it surfaced, for whoever debugs it later. */
function failure(type: string, message: string): ErrorRecord {
  const { stack } = new Error(message);
  return stack === undefined ? { type, message } : { type, message, stack };
}
