import { createHash } from "node:crypto";
import type { AgentStatus, Emit } from "../../contract/event.ts";
import type { RunRequest } from "../../contract/runner.ts";
import { EDIT_TOOLS, SPAWN_TOOLS } from "./tool-rights.ts";
import { amount, type Message, record, records, text } from "../message.ts";

export type Translator = {
  /** Tells the listeners what a line says. True when the agent got on: a line that only shows life does not count. */
  line(message: Message): boolean;
  status(status: AgentStatus): void;
  /** A tool that is still running when the process is gone has no result; its agents have ended all the same. */
  end(): void;
};

type OpenCall = { tool: string; span: string; at: number };
type Child = { span: string; at: number };

const READING = ["Read", "Glob", "Grep", "LS"];
/** Known, and nothing of it belongs into the record. */
const QUIET = new Set(["keep_alive", "command_lifecycle", "control_request", "control_response", "control_cancel_request", "auth_status", "rate_limit_event", "result"]);
const QUIET_SYSTEM = new Set([
  "init", "status", "informational", "background_tasks_changed", "task_notification", "task_updated", "hook_started", "hook_response", "ui_invalidate", "permission_denied",
  "model_refusal_no_fallback", "task_started",
]);

/** Turns the CLI's lines into events of the one union, each under the span of the agent that speaks. */
export function translator(request: RunRequest, emit: Emit): Translator {
  const own = request.agent.spanId;
  const calls = new Map<string, OpenCall>();
  const children = new Map<string, Child>();
  let current: AgentStatus | undefined;

  const status = (next: AgentStatus): void => {
    if (next === current) return;
    current = next;
    emit({ type: "agent.status", span_id: own, status: next });
  };

  const spanOf = (message: Message): string => {
    const parent = text(message.parent_tool_use_id);
    return parent === "" ? own : (children.get(parent) ?? startChild(parent, {})).span;
  };

  const startChild = (callId: string, input: Message): Child => {
    const span = createHash("sha256").update(`${own}\0${callId}`).digest("hex").slice(0, 16);
    const child = { span, at: performance.now() };
    children.set(callId, child);
    const agent = text(input.subagent_type) || "subagent";
    emit({
      type: "agent.started", span_id: span, agent, task: text(input.prompt) || text(input.description), model: text(input.model) || request.model, model_source: "default", runner: "claude",
      depth: request.agent.depth + 1, permissions: [...request.permissions], parent_span_id: own, parent_chain: [...request.agent.parentChain, agent], definition_hash: "",
      inherited: true,
    });
    return child;
  };

  const endChild = (callId: string, ok: boolean, summary: string): void => {
    const child = children.get(callId);
    if (child === undefined) return;
    children.delete(callId);
    emit({
      type: "agent.completed", span_id: child.span, agent: "subagent", status: ok ? "completed" : "failed", summary: summary.slice(0, 2000), duration_ms: performance.now() - child.at,
      tokens: { input: 0, output: 0 }, cost_usd: null, error: ok ? null : { type: "subagent", message: summary.slice(0, 2000) },
    });
  };

  const assistant = (message: Message): boolean => {
    if (message.is_api_error_message === true || record(message.message).model === "<synthetic>") return false;
    const span = spanOf(message);
    for (const block of records(record(message.message).content)) {
      if (block.type === "thinking") emit({ type: "agent.thinking", span_id: span, content: text(block.thinking) });
      if (block.type === "text") emit({ type: "agent.output", span_id: span, text: text(block.text) });
      if (block.type === "tool_use") toolCall(span, block);
    }
    return true;
  };

  const toolCall = (span: string, block: Message): void => {
    const [id, tool] = [text(block.id), text(block.name)];
    calls.set(id, { tool, span, at: performance.now() });
    emit({ type: "agent.tool_call", span_id: span, call_id: id, tool, input: block.input ?? {} });
    if (SPAWN_TOOLS.includes(tool)) startChild(id, record(block.input));
    status(EDIT_TOOLS.includes(tool) ? "writing" : READING.includes(tool) ? "thinking" : "running_command");
  };

  const user = (message: Message): boolean => {
    let results = 0;
    for (const block of records(record(message.message).content)) {
      if (block.type !== "tool_result") continue;
      results++;
      const id = text(block.tool_use_id);
      const call = calls.get(id);
      calls.delete(id);
      const output = contentText(block.content);
      emit({
        type: "agent.tool_result", span_id: call?.span ?? spanOf(message), call_id: id, tool: call?.tool ?? "", ok: block.is_error !== true, output,
        duration_ms: call === undefined ? 0 : performance.now() - call.at,
      });
      endChild(id, block.is_error !== true, output);
      status("thinking");
    }
    return results > 0;
  };

  const system = (message: Message): boolean => {
    switch (message.subtype) {
      case "thinking_tokens":
        status("thinking");
        return true;
      case "api_retry":
        emit({ type: "agent.retry", span_id: own, attempt: amount(message.attempt), delay_ms: amount(message.retry_delay_ms), reason: `${text(message.error)} ${amount(message.error_status) || ""}`.trim() });
        return true;
      case "compact_boundary": {
        const facts = record(message.compact_metadata);
        emit({ type: "agent.compacted", span_id: own, tokens_before: amount(facts.pre_tokens), tokens_after: amount(facts.post_tokens) });
        return true;
      }
      case "task_progress":
        return true;
      default:
        if (!QUIET_SYSTEM.has(text(message.subtype))) emit({ type: "agent.raw", span_id: own, text: JSON.stringify(message) });
        return false;
    }
  };

  const streamed = (message: Message): boolean => {
    const event = record(message.event);
    const block = record(event.content_block);
    if (text(message.parent_tool_use_id) === "" && event.type === "content_block_start" && block.type !== "tool_use") status(block.type === "text" ? "writing" : "thinking");
    return event.type === "content_block_delta" || event.type === "message_start";
  };

  return {
    line(message) {
      switch (message.type) {
        case "assistant":
          return assistant(message);
        case "user":
          return user(message);
        case "system":
          return system(message);
        case "stream_event":
          return streamed(message);
        case "tool_progress":
          return true;
        default:
          if (!QUIET.has(text(message.type))) emit({ type: "agent.raw", span_id: own, text: JSON.stringify(message) });
          return message.type === "result";
      }
    },
    status,
    end() {
      for (const id of children.keys()) endChild(id, false, "it ended together with the agent that started it");
      status("idle");
    },
  };
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  return records(content).map((block) => (block.type === "text" ? text(block.text) : `[${text(block.type)}]`)).join("\n");
}
