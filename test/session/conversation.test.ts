import { describe, expect, it } from "vitest";
import type { CruEvent, NewEvent } from "../../src/contract/event.ts";
import { startConversation } from "../../src/session/conversation.ts";
import { childStarted, primaryStarted, ROOT_SPAN } from "../support/session.ts";

function told(...events: NewEvent[]): string {
  const conversation = startConversation();
  for (const [seq, event] of events.entries()) conversation.add({ v: 1, ts: "2026-11-16T10:00:00.000Z", seq, trace_id: "t", ...event } as CruEvent);
  return conversation.text();
}

const who = { span_id: ROOT_SPAN };

describe("conversation", () => {
  it("reads like a conversation: who said what, what was done, what came of it", () => {
    const text = told(
      { type: "session.started", session_id: "s", request: "Rename it", agent: "primary" },
      primaryStarted(),
      { type: "agent.output", ...who, text: "I will " },
      { type: "agent.status", ...who, status: "writing" },
      { type: "agent.output", ...who, text: "look." },
      { type: "agent.tool_call", ...who, call_id: "0", tool: "update_plan", input: {} },
      { type: "agent.plan", ...who, tasks: [{ id: "1", description: "look | there", depends_on: [], agent: "explore", status: "in_progress" }, { id: "2", description: "done", depends_on: [], agent: null, status: "done" }] },
      { type: "agent.tool_result", ...who, call_id: "0", tool: "update_plan", ok: true, output: "ok", duration_ms: 1 },
      { type: "agent.tool_call", ...who, call_id: "1", tool: "read_file", input: { path: "a`b" } },
      { type: "agent.tool_result", ...who, call_id: "1", tool: "read_file", ok: false, output: "no such\nfile", duration_ms: 1234 },
      childStarted("explore", "1a2b", "b1"),
      { type: "agent.output", span_id: "b1", text: "a child's own words" },
      { type: "agent.completed", span_id: "b1", agent: "explore", status: "completed", summary: "Three files.", duration_ms: 5, tokens: { input: 1, output: 1 }, cost_usd: 0, error: null, file: "explore-1a2b.md" },
      { type: "session.guidance", session_id: "s", text: "Only in src" },
      { type: "agent.output", ...who, text: "Done." },
      { type: "session.completed", session_id: "s", status: "completed", tokens: { input: 1, output: 1 }, cost_usd: 0, duration_ms: 1500 },
    );
    expect(text).toBe(
      "## user\n\nRename it\n\n## primary\n\nI will look.\n\n- [ ] look \\| there (explore), in_progress\n- [x] done\n\n" +
        '- `read_file` `` {"path":"a`b"} ``\n\n- ✗ `read_file` 1,234 ms: `no such file`\n\n→ Running explore agent...\n\n' +
        "✓ [[explore-1a2b]] completed (5 ms, 2 tok)\n\n  Three files.\n\n## user\n\nOnly in src\n\n## primary\n\nDone.\n\n*completed after 1,500 ms*\n",
    );
  });

  it("drops a text whose stream broke, and shows one that is still coming", () => {
    expect(told(primaryStarted(), { type: "agent.output", ...who, text: "half a" }, { type: "agent.retry", ...who, attempt: 1, delay_ms: 1, reason: "cut" }, { type: "agent.output", ...who, text: "whole" })).toBe("whole\n");
  });

  it("a spawn that was refused is told", () => {
    expect(told(primaryStarted(), { type: "agent.tool_result", ...who, call_id: "1", tool: "spawn_agent", ok: false, output: "agent not found", duration_ms: 0 })).toContain("✗ `spawn_agent` 0 ms: `agent not found`");
  });
});
