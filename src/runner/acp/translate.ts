import type { AgentStatus, Emit, PlanTask } from "../../contract/event.ts";
import { type Message, record, records, text } from "../message.ts";
import { labelOf, learn, newCall, outputOf, type ToolCall } from "./tool-calls.ts";

export type Translator = {
  /** Tells the listeners what an update says. True when the agent got on: an update that only shows life does not count. */
  update(update: Message): boolean;
  /** What is known of a call, with what a permission request says of it; it counts as begun now. */
  asks(said: Message): ToolCall;
  status(status: AgentStatus): void;
  /** The words of the turn's last message. */
  finalText(): string;
  /** Nothing more comes in this turn. */
  endTurn(): void;
  end(): void;
};

type OpenCall = { call: ToolCall; begun: boolean; last: string };

const STATUS: Readonly<Record<string, AgentStatus>> = { edit: "writing", delete: "writing", move: "writing", read: "thinking", search: "thinking", think: "thinking" };
const TASK_STATUS: Readonly<Record<string, PlanTask["status"]>> = { in_progress: "in_progress", completed: "done" };
/** Known, and nothing of it belongs into the record. */
const QUIET = new Set(["user_message_chunk", "available_commands_update", "current_mode_update", "config_option_update", "session_info_update", "compaction_summary_chunk"]);
/** A block that grows on is told in parts; of a message the end counts. */
const LONG_BLOCK = 64 << 10;
const MOST_WORDS = 1 << 20;
/** The input of a call streams in; without a sign that it is whole, silence counts as one. */
const WHOLE_MS = 1000;

/** Turns the protocol's updates into events of the one union. Chunks of one message become one event. `ran`: a call has begun to run. */
export function translator(span_id: string, emit: Emit, ran: (call: ToolCall) => void): Translator {
  const calls = new Map<string, OpenCall>();
  const finished = new Set<string>();
  const block = { kind: "" as "" | "text" | "thinking", id: "", words: "" };
  let message = "";
  let messageId = "";
  let used: unknown;
  let current: AgentStatus | undefined;
  let whole: NodeJS.Timeout | undefined;

  const status = (next: AgentStatus): void => {
    if (next === current) return;
    current = next;
    emit({ type: "agent.status", span_id, status: next });
  };

  const flush = (): void => {
    const { kind, words } = block;
    block.kind = "";
    block.words = "";
    if (words === "") return;
    if (kind === "thinking") emit({ type: "agent.thinking", span_id, content: words });
    else emit({ type: "agent.output", span_id, text: words });
  };

  const chunk = (kind: "text" | "thinking", update: Message): boolean => {
    const content = record(update.content);
    const words = content.type === "text" ? text(content.text) : `[${text(content.type)}]`;
    if (words === "") return false;
    const id = text(update.messageId);
    if (block.kind !== kind || block.id !== id) {
      flush();
      // Parts of one message may have calls between them.
      if (kind === "text" && (id === "" || id !== messageId)) message = "";
    }
    beginAll();
    Object.assign(block, { kind, id, words: block.words + words });
    if (kind === "text") {
      message = (message + words).slice(-MOST_WORDS);
      messageId = id;
    }
    if (block.words.length > LONG_BLOCK) flush();
    status(kind === "text" ? "writing" : "thinking");
    return true;
  };

  const begin = (open: OpenCall): void => {
    if (open.begun) return;
    flush();
    open.begun = true;
    emit({ type: "agent.tool_call", span_id, call_id: open.call.id, tool: labelOf(open.call), input: open.call.input });
    status(STATUS[open.call.kind] ?? "running_command");
  };

  const beginAll = (): void => {
    clearTimeout(whole);
    for (const open of calls.values()) begin(open);
  };

  const toolCall = (update: Message): boolean => {
    const id = text(update.toolCallId);
    if (id === "" || finished.has(id)) return false;
    let open = calls.get(id);
    if (open === undefined) {
      // Calls are written one after the other: what stands before the next is whole.
      beginAll();
      open = { call: newCall(id), begun: false, last: "" };
      calls.set(id, open);
    }
    const said = JSON.stringify(update);
    const isNew = said !== open.last;
    open.last = said;
    learn(open.call, update);
    clearTimeout(whole);
    if (update.status === "in_progress" || update.status === "completed" || update.status === "failed") begin(open);
    else if (Object.keys(open.call.input).length > 0) whole = setTimeout(beginAll, WHOLE_MS);
    if (update.status === "in_progress" || update.status === "completed") ran(open.call);
    if (update.status === "completed" || update.status === "failed") finish(open.call, update.status === "completed", outputOf(update));
    return isNew;
  };

  const finish = (call: ToolCall, ok: boolean, output: string): void => {
    calls.delete(call.id);
    finished.add(call.id);
    emit({ type: "agent.tool_result", span_id, call_id: call.id, tool: labelOf(call), ok, output, duration_ms: performance.now() - call.at });
    status("thinking");
  };

  const plan = (update: Message): boolean => {
    const tasks = records(update.entries).map((entry, i): PlanTask => ({
      id: String(i + 1), description: text(entry.content), depends_on: [], agent: null, status: TASK_STATUS[text(entry.status)] ?? "pending",
    }));
    flush();
    emit({ type: "agent.plan", span_id, tasks });
    return true;
  };

  return {
    update(update) {
      switch (update.sessionUpdate) {
        case "agent_message_chunk":
          return chunk("text", update);
        case "agent_thought_chunk":
          return chunk("thinking", update);
        case "tool_call":
        case "tool_call_update":
          return toolCall(update);
        case "plan":
          return plan(update);
        case "usage_update": {
          beginAll();
          const isNew = update.used !== used;
          used = update.used;
          return isNew;
        }
        default:
          if (!QUIET.has(text(update.sessionUpdate))) emit({ type: "agent.raw", span_id, text: JSON.stringify(update) });
          return false;
      }
    },
    asks(said) {
      const id = text(said.toolCallId);
      const open = calls.get(id) ?? { call: newCall(id), begun: false, last: "" };
      learn(open.call, said);
      if (id !== "" && !finished.has(id)) {
        calls.set(id, open);
        begin(open);
      }
      return open.call;
    },
    status,
    finalText: () => message,
    endTurn() {
      beginAll();
      flush();
    },
    end() {
      beginAll();
      flush();
      status("idle");
    },
  };
}
