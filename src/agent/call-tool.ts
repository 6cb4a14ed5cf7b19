import type { z } from "zod";
import type { Emit } from "../contract/event.ts";
import type { ModelToolCall } from "../contract/model-call.ts";
import type { AnyTool, ToolContext, ToolResult } from "../contract/tool.ts";
import { nearest } from "../lib/nearest.ts";
import { boundClean, type Observation } from "./observation.ts";

/** What stands between a call and its execution: rights were settled when the tools were given; gates are asked each time. */
export type Authorize = (call: { callId: string; tool: AnyTool; input: unknown }, context: ToolContext) => Promise<Decision>;

export type Decision =
  | { kind: "run"; input: unknown; note?: string }
  | { kind: "deny"; reason: string }
  /** Nobody can be asked now; the question waits in the inbox. */
  | { kind: "suspend"; inboxId: string };

export type RecordDeps = {
  emit: Emit;
  /** Fields that say who speaks, put into each event. */
  who: Who;
  now(): number;
  /** Most characters of one result that go to the model. */
  mostOutput: number;
  redact<T>(value: T): T;
};

export type Who = { session_id: string; span_id: string };

export type CallDeps = RecordDeps & {
  tools: ReadonlyMap<string, AnyTool>;
  authorize: Authorize;
  workspace: string;
  signal: AbortSignal;
};

export type Called = { kind: "done"; observation: Observation } | { kind: "suspended"; inboxId: string };

/** Find, check the input, ask, run, record: each call goes through these in this order and always ends in an observation or a wait. */
export async function callTool(call: ModelToolCall, deps: CallDeps): Promise<Called> {
  const tool = deps.tools.get(call.tool);
  if (tool === undefined) return refuse(call, deps, unknownTool(call.tool, deps.tools));
  const parsed = parseInput(tool.name, tool.input, call);
  if (!parsed.ok) return refuse(call, deps, parsed.message);
  // Whatever stood behind the call that was stopped does not start any more; a tool that goes on where it stopped is entered again.
  if (deps.signal.aborted && tool.reentrant !== true) return refuse(call, deps, "not run: the work was interrupted");
  const context: ToolContext = { workspace: deps.workspace, callId: call.callId, signal: deps.signal, emit: deps.emit };
  const decision = await deps.authorize({ callId: call.callId, tool, input: parsed.input }, context);
  if (decision.kind === "suspend") return { kind: "suspended", inboxId: decision.inboxId };
  if (decision.kind === "deny") return refuse({ ...call, input: parsed.input }, deps, `denied: ${decision.reason}`);
  return record(call, decision.input, deps, tool.changes, async () => {
    const result = await tool.run(decision.input as never, context);
    return decision.note === undefined ? result : { ...result, output: `${decision.note}\n${result.output}` };
  });
}

/** The input in the tool's own type, or what the model has to change. */
export function parseInput<I>(name: string, schema: z.ZodType<I>, call: ModelToolCall): { ok: true; input: I } | { ok: false; message: string } {
  if (call.invalid !== undefined) return { ok: false, message: `invalid input for ${name}: ${call.invalid}` };
  const parsed = schema.safeParse(call.input);
  if (parsed.success) return { ok: true, input: parsed.data };
  const faults = parsed.error.issues.slice(0, 5).map((i) => `${i.path.join(".") || "input"}: ${i.message}`);
  return { ok: false, message: `invalid input for ${name}: ${faults.join("; ")}. Call it again with these corrected.` };
}

/** A call that does not run: its error goes the same way as any result. */
export function refuse(call: ModelToolCall, deps: RecordDeps, message: string): Promise<Called> {
  return record(call, call.input, deps, false, async () => ({ ok: false, output: message }));
}

function unknownTool(name: string, tools: ReadonlyMap<string, AnyTool>): string {
  const near = nearest(name, [...tools.keys()]);
  return `there is no tool "${name}"${near === undefined ? "" : `; did you mean "${near}"?`} Tools you have: ${[...tools.keys()].join(", ")}`;
}

/** Runs one call and records it around the run. */
export async function record(call: ModelToolCall, input: unknown, deps: RecordDeps, changes: boolean, run: () => Promise<ToolResult>): Promise<Called> {
  // Recorded before it runs: after a kill this line without a result means "unknown whether it ran".
  deps.emit({ type: "agent.tool_call", ...deps.who, call_id: call.callId, tool: call.tool, input });
  const started = deps.now();
  const result = await run();
  if (result.suspended !== undefined) return { kind: "suspended", inboxId: result.suspended };
  const durationMs = Math.max(0, Math.round(deps.now() - started));
  const diff = result.diff === undefined || result.diff === "" ? {} : { diff: cutDiff(result.diff) };
  deps.emit({ type: "agent.tool_result", ...deps.who, call_id: call.callId, tool: call.tool, ok: result.ok, output: result.output, duration_ms: durationMs, ...diff });
  const output = boundClean(result.output, deps.mostOutput, deps.redact);
  return { kind: "done", observation: { callId: call.callId, tool: call.tool, input, output, ok: result.ok, durationMs, changed: changes } };
}

const MOST_DIFF = 20_000;

/** The file itself has the rest. */
function cutDiff(diff: string): string {
  return diff.length <= MOST_DIFF ? diff : diff.slice(0, diff.lastIndexOf("\n", MOST_DIFF) + 1);
}
