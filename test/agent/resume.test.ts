import { describe, expect, it } from "vitest";
import type { CruEvent } from "../../src/contract/event.ts";
import { answered, countingTool, loop } from "../support/loop.ts";

const call = (name: string, input: unknown, id: string): { name: string; input: unknown; id: string } => ({ name, input, id });

const SCRIPT = {
  rules: [
    {
      match: {}, by: "turn" as const,
      replies: [
        { text: "I plan.", tools: [call("update_plan", { tasks: [{ id: "a", description: "look", agent: "explore" }, { id: "b", description: "edit", depends_on: ["a"] }] }, "c1")] },
        { tools: [call("edit", { n: 1 }, "c2"), call("edit", { n: 2 }, "c3")] },
        { thinking: "was that all?", tools: [call("edit", { n: 3 }, "c4"), call("reflect", { goal_achieved: false, progress: "most", content: "one left" }, "c5")] },
        { tools: [call("edit", { n: 4 }, "c6")] },
        { text: "All four are edited." },
        { tools: [call("reflect", { goal_achieved: true, progress: "all", content: "ok" }, "c7")] },
      ],
    },
  ],
};

describe("going on after a kill", () => {
  it("cut after any event, the loop reaches the same answer and no recorded call runs again", async () => {
    const whole = await loop(SCRIPT, { tools: [countingTool("edit", { changes: true })] });
    expect(whole.end).toMatchObject({ status: "complete", text: "All four are edited." });
    // A phase by itself changes nothing on disk that matters, so cuts after those are left out.
    const cuts = whole.events.map((_, i) => i).filter((i) => i > 0 && whole.events[i - 1]?.type !== "agent.state");
    for (const cut of cuts) {
      const before = whole.events.slice(0, cut);
      const edit = countingTool("edit", { changes: true });
      const { end, events } = await loop(SCRIPT, { tools: [edit], before });
      expect({ cut, last: before.at(-1)?.type, status: end.status, text: end.text }).toEqual({ cut, last: before.at(-1)?.type, status: "complete", text: "All four are edited." });
      const startedBefore = new Set(before.flatMap((e) => (e.type === "agent.tool_call" && e.tool === "edit" ? [e.call_id] : [])));
      const ranNow = events.slice(cut).flatMap((e) => (e.type === "agent.tool_call" && e.tool === "edit" ? [e.call_id] : []));
      expect(ranNow.filter((id) => startedBefore.has(id))).toEqual([]);
      expect(new Set([...startedBefore, ...ranNow])).toEqual(new Set(["c2", "c3", "c4", "c6"]));
      expect(edit.runs).toHaveLength(ranNow.length);
    }
    expect(cuts.length).toBeGreaterThan(30);
  });

  it("a call that was cut off is given back as interrupted", async () => {
    const whole = await loop(SCRIPT, { tools: [countingTool("edit", { changes: true })] });
    const at = whole.events.findIndex((e) => e.type === "agent.tool_call" && e.call_id === "c3");
    const { requests } = await loop(SCRIPT, { tools: [countingTool("edit", { changes: true })], before: whole.events.slice(0, at + 1) });
    expect(requests[0]?.users.at(-1)).toContain("interrupted, unknown whether it ran");
  });

  it("a question that was open is asked again, and goes on with its answer", async () => {
    const script = { rules: [{ match: {}, by: "turn" as const, replies: [{ tools: [call("reflect", { goal_achieved: false, progress: "", content: "", needs_user: "Which one?" }, "c1")] }, { text: "took the second" }] }] };
    const first = await loop(script);
    expect(first.end.reason).toBe("needs_person");
    // What the inbox records when a question is written.
    const opened = { v: 1, ts: "", seq: 0, trace_id: "", type: "inbox.opened", session_id: "s", span_id: "0123456789abcdef", id: "i1", key: first.asked[0]?.key ?? "", kind: "guidance", title: "Which one?", body: "" } as CruEvent;
    const again = await loop(script, { before: [...first.events, opened], answers: [answered("the second")] });
    expect(again.asked.map((q) => q.key)).toEqual([first.asked[0]?.key]);
    expect([again.end.text, again.requests.length]).toEqual(["took the second", 1]);
    expect(again.requests[0]?.users.at(-1)).toContain("the second");
  });
});

describe("compaction", () => {
  it("a task of 40 calls completes in a window of 8,000 tokens; request, plan, guidance and the last five observations survive", async () => {
    const look = countingTool("look", { reply: ({ n }) => ({ ok: true, output: `result ${n} ${"lorem ipsum dolor ".repeat(60)}` }) });
    const guidance = [[], ["prefer small steps"]];
    const { end, events, requests } = await loop(
      (request, n) => {
        if (n === 0) return { tools: [{ name: "update_plan", input: { tasks: [{ id: "t", description: "visit all forty" }] } }] };
        return n <= 40 ? { tools: [{ name: "look", input: { n } }] } : { text: `saw ${request.users.length}` };
      },
      { prompt: "Visit all forty places.", tools: [look], input: { windowTokens: 8000, maxIterations: 60 }, deps: { takeGuidance: () => guidance.shift() ?? [] } },
    );
    expect([end.status, look.runs.length]).toEqual(["complete", 40]);
    expect(events.filter((e) => e.type === "agent.compacted").length).toBeGreaterThan(1);
    for (const [i, request] of requests.entries()) {
      const body = JSON.stringify(request.body.messages);
      expect(body.length / 3.5 + 1000).toBeLessThan(8000);
      expect(body).toContain("Visit all forty places.");
      expect(i <= 1 || (body.includes("prefer small steps") && body.includes("visit all forty"))).toBe(true);
      for (let n = Math.max(1, i - 5); n < i; n++) expect(body).toContain(`result ${n} `);
    }
    // The original stays in the record.
    expect(events.filter((e) => e.type === "agent.tool_result").length).toBe(41);
  });

  it("a single result larger than the window is cut in the middle and says so", async () => {
    const huge = countingTool("look", { reply: () => ({ ok: true, output: `START${"x".repeat(2_000_000)}END` }) });
    const { end, requests } = await loop([{ tools: [{ name: "look", input: {} }] }, { text: "ok" }], { tools: [huge], input: { windowTokens: 8000 } });
    expect(end.text).toBe("ok");
    const body = JSON.stringify(requests[1]?.body.messages);
    expect(body.length).toBeLessThan(28_000);
    expect(body).toMatch(/START.*characters left out.*END/);
  });
});
