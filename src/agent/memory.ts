import type { CruEvent, PlanTask } from "../contract/event.ts";
import type { ModelMessage, ModelReply, ModelToolCall } from "../contract/model-call.ts";
import type { Tokens } from "../contract/usage.ts";
import type { Observation } from "./observation.ts";

/** Everything a loop has to know to go on; rebuilt from the recording after a kill. */
export type LoopMemory = {
  messages: ModelMessage[];
  observations: Observation[];
  plan: PlanTask[];
  guidance: string[];
  /** What the user said that no request has carried yet. */
  unheard: string[];
  lastText: string;
  /** True when something was changed since the last `reflect`. */
  changedSinceReflect: boolean;
  nudged: boolean;
  /** The answer that is held back while the agent looks back at its changes. */
  held: string | undefined;
  /** A reply whose calls are not all answered yet. */
  open: OpenReply | undefined;
  /** A question of the loop itself that was not answered yet. */
  question: LoopQuestion | undefined;
  questions: number;
};

export type LoopQuestion = { key: string; kind: "guidance" | "budget"; title: string; body: string };

export type OpenReply = {
  text: string;
  calls: ModelToolCall[];
  /** What is known by call id; a call that was started and has no observation was cut off. */
  done: Map<string, Observation>;
  started: Set<string>;
};

/** What `model.request` records: only what is new against the request before it. */
export type RecordedRequest = { model: string; keep: number; messages: ModelMessage[]; system?: string; tools?: unknown; max_output_tokens?: number; tool_choice: unknown };
type RecordedUse = { tokens?: Tokens; cost_usd?: number | null; cost_estimated?: boolean; attempts?: number };
export type RecordedReply = RecordedUse &
  (
    | { ok: true; message: Extract<ModelMessage, { role: "assistant" }>; text: string; tool_calls: ModelToolCall[]; stop?: ModelReply["stop"] }
    | { ok: false; kind: string; message: string; hint?: string }
  );

export function freshMemory(prompt: string): LoopMemory {
  return {
    messages: [{ role: "user", content: prompt }],
    observations: [],
    plan: [],
    guidance: [],
    unheard: [],
    lastText: "",
    changedSinceReflect: false,
    nudged: false,
    held: undefined,
    open: undefined,
    question: undefined,
    questions: 0,
  };
}

/** Reads one agent's events back. `changes(tool)` says which tools change something. */
export function recallMemory(prompt: string, events: readonly CruEvent[], spanId: string, changes: (tool: string) => boolean): LoopMemory {
  const memory = freshMemory(prompt);
  let sent: ModelMessage[] = [];
  const inputs = new Map<string, unknown>();
  // Critiques and explanations stand beside the conversation.
  const beside = new Set(events.flatMap((e) => (e.type === "model.request" && e.purpose !== undefined ? [e.request_id] : [])));
  for (const event of events) {
    if (event.type === "session.guidance") {
      memory.guidance.push(event.text);
      memory.unheard.push(event.text);
    }
    if (!("span_id" in event) || event.span_id !== spanId || ("request_id" in event && beside.has(event.request_id))) continue;
    switch (event.type) {
      case "model.request": {
        const request = event.request as RecordedRequest;
        sent = [...sent.slice(0, request.keep), ...request.messages];
        memory.messages = [...sent];
        memory.open = undefined;
        memory.unheard = [];
        if (request.tool_choice !== "auto") {
          memory.nudged = true;
          memory.held = memory.lastText;
        } else memory.held = undefined;
        break;
      }
      case "model.reply": {
        const reply = event.reply as RecordedReply;
        if (!reply.ok) break;
        memory.messages = [...sent, reply.message];
        if (reply.text !== "" && memory.held === undefined) memory.lastText = reply.text;
        memory.open = { text: reply.text, calls: reply.tool_calls, done: new Map(), started: new Set() };
        break;
      }
      case "agent.tool_call":
        memory.open?.started.add(event.call_id);
        inputs.set(event.call_id, event.input);
        break;
      case "agent.tool_result": {
        const { call_id: callId, tool, ok, output, duration_ms: durationMs } = event;
        const observation = { callId, tool, input: inputs.get(callId), ok, output, durationMs, changed: changes(tool) };
        memory.open?.done.set(callId, observation);
        memory.observations.push(observation);
        if (observation.changed) memory.changedSinceReflect = true;
        break;
      }
      case "agent.plan":
        memory.plan = event.tasks;
        break;
      case "agent.reflection":
        memory.changedSinceReflect = false;
        break;
      case "inbox.opened":
        if (event.key.startsWith("loop-")) {
          memory.questions += 1;
          memory.question = { key: event.key, kind: event.kind === "budget" ? "budget" : "guidance", title: event.title, body: event.body };
        }
        break;
      case "inbox.closed":
        memory.question = undefined;
        break;
      default:
    }
  }
  return memory;
}
