import type { PlanTask } from "../contract/event.ts";
import type { ModelToolCall } from "../contract/model-call.ts";
import type { ToolResult } from "../contract/tool.ts";
import { callTool, type CallDeps, type Called, parseInput, record, refuse } from "./call-tool.ts";
import { planInputSchema, REFLECT, type ReflectInput, reflectInputSchema, UPDATE_PLAN } from "./loop-tools.ts";
import type { LoopMemory, OpenReply } from "./memory.ts";
import type { Observation } from "./observation.ts";
import { planText, readyAgentTasks, skipAfterFailure, updatePlan, withStatus } from "./plan.ts";

export type ActDeps = CallDeps & {
  /** Runs a task of the plan through the one spawn path; `key` is the same after a restart. */
  startTask(task: PlanTask, key: string): Promise<ToolResult>;
};

export type Acted = { kind: "done"; observations: Observation[]; reflection: ReflectInput | undefined } | { kind: "suspended"; inboxId: string };

/** The Act phase: every call of one reply, in order; neighbouring calls that start agents go to the queue together. */
export async function act(open: OpenReply, memory: LoopMemory, deps: ActDeps): Promise<Acted> {
  let reflection: ReflectInput | undefined;
  for (const group of groups(open.calls, deps)) {
    const called = await Promise.all(group.map((call) => perform(call)));
    for (const [i, result] of called.entries()) {
      if (result.kind === "suspended") return result;
      const call = group[i];
      if (call !== undefined && !open.done.has(call.callId)) {
        open.done.set(call.callId, result.observation);
        memory.observations.push(result.observation);
        if (result.observation.changed) memory.changedSinceReflect = true;
      }
    }
  }
  return { kind: "done", observations: open.calls.flatMap((c) => open.done.get(c.callId) ?? []), reflection };

  async function perform(call: ModelToolCall): Promise<Called> {
    const known = open.done.get(call.callId);
    if (call.tool === REFLECT) return known === undefined ? reflect(call) : recallReflection(call, known);
    if (known !== undefined) return { kind: "done", observation: known };
    if (call.tool === UPDATE_PLAN) return plan(call, memory, deps);
    const tool = deps.tools.get(call.tool);
    if (open.started.has(call.callId) && tool?.reentrant !== true) return interrupted(call, deps);
    return callTool(call, deps);
  }

  async function reflect(call: ModelToolCall): Promise<Called> {
    const parsed = parseInput(REFLECT, reflectInputSchema, call);
    if (!parsed.ok) return refuse(call, deps, parsed.message);
    reflection = parsed.input;
    memory.changedSinceReflect = false;
    const { goal_achieved, progress, content, next_action, needs_user, issues } = parsed.input;
    deps.emit({
      type: "agent.reflection", ...deps.who, goal_achieved, progress, content,
      ...(next_action === undefined ? {} : { next_action }),
      ...(needs_user === undefined ? {} : { needs_user: String(needs_user) }),
      ...(issues === undefined ? {} : { issues }),
    });
    return record(call, call.input, deps, false, async () => ({ ok: true, output: goal_achieved ? "Noted: the goal is achieved." : "Noted. Go on with the next action." }));
  }

  function recallReflection(call: ModelToolCall, known: Observation): Called {
    const parsed = parseInput(REFLECT, reflectInputSchema, call);
    if (parsed.ok) reflection = parsed.input;
    return { kind: "done", observation: known };
  }
}

/** A kill came between start and result. Nobody knows whether it ran, so it is given back, never repeated. */
function interrupted(call: ModelToolCall, deps: CallDeps): Called {
  const output = "interrupted, unknown whether it ran: look at the state of things before you repeat it";
  deps.emit({ type: "agent.tool_result", ...deps.who, call_id: call.callId, tool: call.tool, ok: false, output, duration_ms: 0 });
  return { kind: "done", observation: { callId: call.callId, tool: call.tool, input: call.input, output, ok: false, durationMs: 0, changed: true } };
}

/** `update_plan`: check it, then run whatever agents can start, wave by wave, until nothing more is ready. */
function plan(call: ModelToolCall, memory: LoopMemory, deps: ActDeps): Promise<Called> {
  const parsed = parseInput(UPDATE_PLAN, planInputSchema, call);
  if (!parsed.ok) return refuse(call, deps, parsed.message);
  const updated = updatePlan(memory.plan, parsed.input.tasks);
  if (!updated.ok) return refuse(call, deps, updated.message);
  return record(call, parsed.input, deps, false, async () => {
    const setPlan = (tasks: PlanTask[]): void => {
      memory.plan = tasks;
      deps.emit({ type: "agent.plan", ...deps.who, tasks });
    };
    // After a restart a task may stand as running or done by this very call; the spawn path returns what is already there.
    setPlan(updated.tasks.map((t) => (t.agent !== null && t.status === "in_progress" ? { ...t, status: "pending" } : t)));
    const results = new Map<string, ToolResult>();
    for (let ready = readyAgentTasks(memory.plan); ready.length > 0; ready = readyAgentTasks(memory.plan)) {
      setPlan(memory.plan.map((t) => (ready.some((r) => r.id === t.id) ? { ...t, status: "in_progress" } : t)));
      const wave = await Promise.all(ready.map(async (task) => [task.id, await deps.startTask(task, `${call.callId}/${task.id}`)] as const));
      const waiting = wave.find(([, result]) => result.suspended !== undefined);
      if (waiting !== undefined) return waiting[1];
      for (const [id, result] of wave) {
        results.set(id, result);
        memory.plan = withStatus(memory.plan, id, result.ok ? "done" : "failed");
      }
      setPlan(skipAfterFailure(memory.plan));
    }
    const reports = memory.plan.flatMap((t) => {
      const result = results.get(t.id);
      return result === undefined ? [] : [`## ${t.id} (${t.agent ?? ""}): ${result.ok ? "done" : "failed"}\n${result.output}`];
    });
    return { ok: [...results.values()].every((r) => r.ok), output: [`Plan:\n${planText(memory.plan)}`, ...reports].join("\n\n") };
  });
}

/** Neighbouring calls of a re-entrant tool (agents) form one group; every other call stands alone. */
function groups(calls: readonly ModelToolCall[], deps: CallDeps): ModelToolCall[][] {
  const result: ModelToolCall[][] = [];
  for (const call of calls) {
    const last = result.at(-1);
    const parallel = deps.tools.get(call.tool)?.reentrant === true;
    if (parallel && last !== undefined && deps.tools.get(last[0]?.tool ?? "")?.reentrant === true) last.push(call);
    else result.push([call]);
  }
  return result;
}
