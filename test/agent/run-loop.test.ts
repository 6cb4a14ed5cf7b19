import { describe, expect, it } from "vitest";
import type { CruEvent } from "../../src/contract/event.ts";
import { answered, countingTool, loop } from "../support/loop.ts";

const call = (name: string, input: unknown = {}): { name: string; input: unknown } => ({ name, input });
const states = (events: CruEvent[]): string => events.flatMap((e) => (e.type === "agent.state" ? [e.to] : [])).join(" ");
const ROUND = "Acting Observing Reflecting";

describe("the loop", () => {
  it("[PAOR-2.1.1] [PAOR-2.1.2] [PAOR-2.1.3] each reply passes all four phases, then planning again or complete", async () => {
    const look = countingTool("look");
    const { end, events } = await loop([{ tools: [call("look")] }, { text: "found it" }], { tools: [look] });
    expect(states(events)).toBe(`Planning ${ROUND} Planning ${ROUND} Complete`);
    expect(end).toMatchObject({ status: "complete", reason: "answered", text: "found it", iterations: 1 });
  });

  it("[PAOR-2.1.4] an error that cannot be mended leads to Failed, with what to fix", async () => {
    const { end, events } = await loop([{ error: { status: 401, message: "invalid x-api-key" } }]);
    expect(states(events)).toBe("Planning Failed");
    expect(end).toMatchObject({ status: "failed", reason: "error", error: { type: "auth" } });
    expect(end.hint).toContain("ANTHROPIC_API_KEY");
  });

  it("a task that needs no tool costs one call", async () => {
    const { end, requests } = await loop([{ text: "42" }]);
    expect([end.text, requests.length]).toEqual(["42", 1]);
  });

  it("reading costs no look back; a change costs one, and the earlier text stays the answer", async () => {
    const read = await loop([{ tools: [call("look")] }, { text: "read it" }], { tools: [countingTool("look")] });
    expect(read.requests).toHaveLength(2);
    const changed = await loop(
      [{ tools: [call("edit")] }, { text: "renamed everything" }, { text: "hm", tools: [call("reflect", { goal_achieved: true, progress: "all", content: "checked" })] }],
      { tools: [countingTool("edit", { changes: true })] },
    );
    expect(changed.requests).toHaveLength(3);
    expect(changed.end).toMatchObject({ status: "complete", reason: "goal_achieved", text: "renamed everything" });
  });

  it("a look back that finds something missing goes on, and there is never a second one", async () => {
    const edit = countingTool("edit", { changes: true });
    const { end, requests } = await loop(
      [
        { tools: [call("edit", { n: 1 })] },
        { text: "done?" },
        { tools: [call("reflect", { goal_achieved: false, progress: "half", content: "one file left" })] },
        { tools: [call("edit", { n: 2 })] },
        { text: "now done" },
      ],
      { tools: [edit] },
    );
    expect([end.text, edit.runs.length, requests.length]).toEqual(["now done", 2, 5]);
  });

  it("a forced reply without reflect counts as achieved", async () => {
    const { end, requests } = await loop([{ tools: [call("edit")] }, { text: "done" }, { text: "what?" }], { tools: [countingTool("edit", { changes: true })] });
    expect([end.status, end.text, requests.length]).toEqual(["complete", "done", 3]);
  });

  it("subagents are never asked to look back", async () => {
    const { requests } = await loop([{ tools: [call("edit")] }, { text: "done" }], { tools: [countingTool("edit", { changes: true })], input: { primary: false } });
    expect(requests).toHaveLength(2);
  });

  it("[PAOR-7.1.1] reflect with the goal achieved ends the loop once the other calls of that reply have run", async () => {
    const edit = countingTool("edit", { changes: true });
    const { end, events } = await loop([{ text: "Renamed.", tools: [call("reflect", { goal_achieved: true, progress: "1", content: "all handled" }), call("edit")] }], { tools: [edit] });
    expect([end.status, end.reason, end.text, edit.runs.length]).toEqual(["complete", "goal_achieved", "Renamed.", 1]);
    expect(states(events)).toBe(`Planning ${ROUND} Complete`);
  });

  it("the answer is the reply's text, else the last text, else what reflect says", async () => {
    const done = call("reflect", { goal_achieved: true, progress: "", content: "from reflect" });
    expect((await loop([{ tools: [done] }])).end.text).toBe("from reflect");
    expect((await loop([{ text: "earlier", tools: [call("look")] }, { tools: [done] }], { tools: [countingTool("look")] })).end.text).toBe("earlier");
  });

  it("[PAOR-1.2.1] stops after the most iterations and reports progress", async () => {
    const look = countingTool("look");
    const { end, events } = await loop((_, n) => ({ tools: [call("look", { n }), ...(n === 0 ? [call("update_plan", { tasks: [{ id: "a", description: "search" }] })] : [])] }), { tools: [look] });
    expect([end.status, end.reason, end.iterations, look.runs.length]).toEqual(["blocked", "max_iterations", 15, 15]);
    expect(end.text).toContain("Stopped after 15 iterations");
    expect(end.text).toContain("[ ] a: search");
    expect(states(events).endsWith("Reflecting Failed")).toBe(true);
  });

  it("[PAOR-7.2.1] a reflection that needs the user pauses with the question", async () => {
    const { end, asked } = await loop([{ tools: [call("reflect", { goal_achieved: false, progress: "stuck", content: "two ways", needs_user: "Keep the old name as an alias?" })] }]);
    expect(end).toMatchObject({ status: "blocked", reason: "needs_person", inboxId: "i1" });
    expect(asked[0]).toMatchObject({ kind: "guidance", title: "Keep the old name as an alias?" });
  });

  it("goes on with the answer, which the next request shows", async () => {
    const { end, requests, events } = await loop(
      [{ tools: [call("reflect", { goal_achieved: false, progress: "", content: "", needs_user: true, next_action: "Which folder?" })] }, { text: "searched there" }],
      { answers: [answered("only src/lib")] },
    );
    expect(end.text).toBe("searched there");
    expect(requests[1]?.users.at(-1)).toContain("Guidance from the user: only src/lib");
    expect(events.some((e) => e.type === "session.guidance" && e.text === "only src/lib")).toBe(true);
  });

  it("three identical calls with identical results, successful ones too, are a question to the user", async () => {
    const same = countingTool("look", { reply: () => ({ ok: true, output: "nothing" }) });
    const { end, asked } = await loop(() => ({ tools: [call("look", { n: 1 })] }), { tools: [same] });
    expect([end.reason, same.runs.length]).toEqual(["needs_person", 3]);
    expect(asked[0]?.title).toContain("three times with the same result: look");
  });

  it("the same call with other results goes on", async () => {
    const { end } = await loop((_, n) => (n < 5 ? { tools: [call("look", { n: 1 })] } : { text: "ok" }), { tools: [countingTool("look")] });
    expect(end.text).toBe("ok");
  });

  it("[PAOR-4.1.1] [PAOR-4.2.1] every call leaves tool, input, output, time and success, also when it fails", async () => {
    const flaky = countingTool("flaky", { reply: (_, run) => (run === 1 ? { ok: false, output: "ENOENT: no such file a.txt" } : { ok: true, output: "fine" }) });
    const { memory, events } = await loop([{ tools: [call("flaky", { n: 7 })] }, { tools: [call("flaky", { n: 8 })] }, { text: "x" }], { tools: [flaky] });
    expect(memory.observations.map(({ tool, input, output, ok }) => ({ tool, input, output, ok }))).toEqual([
      { tool: "flaky", input: { n: 7 }, output: "ENOENT: no such file a.txt", ok: false },
      { tool: "flaky", input: { n: 8 }, output: "fine", ok: true },
    ]);
    for (const o of memory.observations) expect(o.durationMs).toBeGreaterThanOrEqual(0);
    expect(events.filter((e) => e.type === "agent.tool_result").map((e) => e.ok)).toEqual([false, true]);
  });

  it("[PAOR-4.1.2] [PAOR-4.2.2] the forced reflection sees each observation, errors included", async () => {
    const edit = countingTool("edit", { changes: true, reply: (_, run) => (run === 1 ? { ok: false, output: "disk full" } : { ok: true, output: "written 3 lines" }) });
    const { requests } = await loop(
      [{ tools: [call("edit", { n: 1 })] }, { tools: [call("edit", { n: 2 })] }, { text: "ok" }, { tools: [call("reflect", { goal_achieved: true, progress: "", content: "" })] }],
      { tools: [edit] },
    );
    const last = JSON.stringify(requests.at(-1)?.body);
    expect(last).toContain("disk full");
    expect(last).toContain("written 3 lines");
    expect(requests.at(-1)?.tools).toContain("reflect");
  });

  it("bad input and unknown tools are errors that say what to change, never an end", async () => {
    const look = countingTool("look");
    const { end, memory } = await loop([{ tools: [call("look", { n: "seven" }), call("lok")] }, { tools: [{ name: "look", raw: "{\"n\": 1" }] }, { text: "sorry" }], { tools: [look] });
    expect(end.text).toBe("sorry");
    expect(look.runs).toEqual([]);
    expect(memory.observations.map((o) => o.ok)).toEqual([false, false, false]);
    expect(memory.observations[0]?.output).toContain("invalid input for look: n:");
    expect(memory.observations[1]?.output).toContain('did you mean "look"?');
    expect(memory.observations[2]?.output).toContain("invalid input for look");
  });

  it("a tool that brings its own JSON Schema is shown to the model with exactly that", async () => {
    const inputJson = { type: "object", properties: { path: { type: "string", format: "uri" } }, required: ["path"], "x-note": 1 };
    const { requests } = await loop([{ text: "ok" }], { tools: [{ ...countingTool("look"), inputJson }, countingTool("plain")] });
    const tools = (requests[0]!.body as { tools: { name: string; input_schema: unknown }[] }).tools;
    expect(tools.find((t) => t.name === "look")?.input_schema).toEqual(inputJson);
    expect(tools.find((t) => t.name === "plain")?.input_schema).toMatchObject({ type: "object", properties: { n: { type: "number" } } });
  });

  it("a denied call is an error with the reason and the loop goes on", async () => {
    const edit = countingTool("edit", { changes: true });
    const { end, memory } = await loop([{ tools: [call("edit")] }, { text: "I leave it" }], { tools: [edit], deps: { authorize: async () => ({ kind: "deny", reason: "not this file" }) } });
    expect([end.text, edit.runs.length, memory.observations[0]?.output]).toEqual(["I leave it", 0, "denied: not this file"]);
  });

  it("plan tasks with an agent are started in dependency order, results in plan order; the model's own come after", async () => {
    const order: string[] = [];
    const tasks = [
      { id: "c", description: "join", agent: "x", depends_on: ["a", "b"] },
      { id: "a", description: "one", agent: "x" },
      { id: "b", description: "two", agent: "x", depends_on: ["a"] },
      { id: "mine", description: "write", depends_on: ["c"] },
    ];
    const { memory, requests } = await loop([{ tools: [call("update_plan", { tasks })] }, { text: "done" }], {
      deps: {
        startTask: async (task) => {
          order.push(task.id);
          return { ok: true, output: `result of ${task.id}` };
        },
      },
    });
    expect(order).toEqual(["a", "b", "c"]);
    const result = requests[1]?.users.at(-1) ?? "";
    expect(result.indexOf("result of c")).toBeLessThan(result.indexOf("result of a"));
    expect(memory.plan.map((t) => t.status)).toEqual(["done", "done", "done", "pending"]);
  });

  it("the budget is set aside before each call; without an answer the loop waits", async () => {
    const { openBudget } = await import("../../src/agent/budget.ts");
    const tight = (): ReturnType<typeof openBudget> => openBudget({ usd: 0.001, tokens: null }, { usd: 0, tokens: 0, estimated: false }, () => {});
    const waiting = await loop([{ text: "never" }], { deps: { budget: tight() } });
    expect([waiting.end.reason, waiting.requests.length, waiting.asked[0]?.kind]).toEqual(["needs_person", 0, "budget"]);
    const denied = await loop([{ text: "never" }], { deps: { budget: tight() }, answers: [answered("", "deny")] });
    expect([denied.end.reason, denied.requests.length]).toEqual(["over_budget", 0]);
    const allowed = await loop([{ text: "fine" }], { deps: { budget: tight() }, answers: Array.from({ length: 40 }, () => answered("", "approve")) });
    expect(allowed.end.text).toBe("fine");
  });

  it("guidance that comes while it works is in the next request", async () => {
    const texts = [[], ["search only in src/utils"], []];
    const { requests } = await loop([{ tools: [call("look")] }, { text: "ok" }], { tools: [countingTool("look")], deps: { takeGuidance: () => texts.shift() ?? [] } });
    expect(requests[1]?.users.at(-1)).toContain("search only in src/utils");
  });

  it("an abort in the middle of a reply ends as cancelled", async () => {
    const stop = new AbortController();
    const { end } = await loop([{ text: "a long answer that is streamed slowly", chunk_ms: 20, chunk_chars: 2 }], { deps: { signal: stop.signal, onDelta: () => stop.abort() } });
    expect([end.status, end.reason]).toEqual(["cancelled", "aborted"]);
  });
});
