import type { RecordedRequest } from "../../agent/memory.ts";
import type { CruEvent } from "../../contract/event.ts";
import type { ModelMessage, ToolSpec } from "../../contract/model-call.ts";
import { unifiedDiff } from "../../lib/diff.ts";

export type RequestEvent = Extract<CruEvent, { type: "model.request" }>;
export type FullRequest = { model: string; system: string; tools: ToolSpec[]; max_output_tokens: number; messages: ModelMessage[]; tool_choice: unknown };
export type RequestChange = { what: "model" | "system prompt" | "tools" | "messages" | "tool choice" | "length limit"; diff: string };

/** Puts requests together again that were recorded as what is new against the one before. */
export function requestReader(): (event: Pick<RequestEvent, "span_id" | "purpose" | "request">) => FullRequest {
  const last = new Map<string, FullRequest>();
  return ({ span_id, purpose, request }) => {
    const { model, keep, messages, system, tools, max_output_tokens, tool_choice } = request as RecordedRequest;
    const key = `${span_id ?? ""} ${purpose ?? ""}`;
    const before = system === undefined ? last.get(key) : undefined;
    const full: FullRequest = {
      model,
      system: system ?? before?.system ?? "",
      tools: (tools as ToolSpec[] | undefined) ?? before?.tools ?? [],
      max_output_tokens: max_output_tokens ?? before?.max_output_tokens ?? 0,
      messages: [...(before?.messages.slice(0, keep) ?? []), ...messages],
      tool_choice,
    };
    last.set(key, full);
    return full;
  };
}

/** What is different now, the first thing first, as a diff from then to now. */
export function changesOf(then: FullRequest, now: FullRequest): RequestChange[] {
  const compare = (what: RequestChange["what"], a: string, b: string): RequestChange[] => (a === b ? [] : [{ what, diff: unifiedDiff(a, b, { from: "recorded", to: "now" }) }]);
  return [
    ...compare("model", then.model, now.model),
    ...compare("system prompt", then.system, now.system),
    ...toolChanges(then.tools, now.tools),
    ...messageChanges(then.messages, now.messages),
    ...compare("tool choice", text(then.tool_choice), text(now.tool_choice)),
    ...compare("length limit", String(then.max_output_tokens), String(now.max_output_tokens)),
  ];
}

function toolChanges(then: readonly ToolSpec[], now: readonly ToolSpec[]): RequestChange[] {
  if (text(then) === text(now)) return [];
  const page = (tools: readonly ToolSpec[]): string => tools.map((t) => `# ${t.name}\n${t.description}\n${text(t.inputSchema)}\n`).join("\n");
  return [{ what: "tools", diff: unifiedDiff(page(then), page(now), { from: "recorded", to: "now" }) }];
}

function messageChanges(then: readonly ModelMessage[], now: readonly ModelMessage[]): RequestChange[] {
  const at = Array.from({ length: Math.max(then.length, now.length) }, (_, i) => i).find((i) => text(then[i]) !== text(now[i]));
  if (at === undefined) return [];
  const options = { from: `recorded, message ${at + 1} of ${then.length}`, to: `now, message ${at + 1} of ${now.length}` };
  return [{ what: "messages", diff: unifiedDiff(readable(then[at]), readable(now[at]), options) }];
}

/** Texts with their own line ends, so that a diff shows the line that changed and not the whole message. */
function readable(message: ModelMessage | undefined): string {
  if (message === undefined) return "";
  if (message.role === "user") return `user:\n${message.content}\n`;
  if (message.role === "tool") return message.results.map((r) => `result of ${r.tool} (${r.call_id}), ${r.ok ? "ok" : "failed"}:\n${r.output}\n`).join("");
  return `assistant:\n${message.content.map((p) => (p.type === "tool_call" ? `calls ${p.tool} (${p.call_id}) ${text(p.input)}` : p.text)).join("\n")}\n`;
}

function text(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? "";
}
