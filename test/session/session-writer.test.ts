import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { eventSchema } from "../../src/contract/event.ts";
import { sessionMetadataSchema } from "../../src/contract/session.ts";
import { readRecording, readSession } from "../../src/session/read-session.ts";
import type { SessionWriter } from "../../src/session/session-writer.ts";
import { open, primaryStarted, ROOT_SPAN, runChild, sessionDeps, testClock } from "../support/session.ts";

function front(path: string): { data: Record<string, unknown>; body: string } {
  const [, yaml = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(readFileSync(path, "utf8")) ?? [];
  return { data: load(yaml) as Record<string, unknown>, body };
}

const metadataOf = (session: SessionWriter) => sessionMetadataSchema.parse(JSON.parse(readFileSync(join(session.folder, "metadata.json"), "utf8")));

describe("session folder", () => {
  it("[CRU-4.1.1] [CRU-4.1.2] [CRU-4.1.3] [CRU-4.1.4] is made at the start, with a date, a slug, session.md and metadata.json, and is unique", async () => {
    const deps = sessionDeps();
    const [a, b, c] = await Promise.all([open(deps), open(deps), open(deps)]);
    expect([a.id, b.id, c.id].sort()).toEqual(["2026-11-16-find-all-usages", "2026-11-16-find-all-usages-2", "2026-11-16-find-all-usages-3"]);
    expect(a.folder).toBe(join(deps.paths.root, ".crucible/sessions", a.id));
    for (const session of [a, b, c]) {
      expect(front(join(session.folder, "session.md"))).toMatchObject({ data: { session_id: session.id, status: "running", primary_agent: "primary", completed_at: null } });
      expect(front(join(session.folder, "session.md")).body).toContain("## user\n\nFind all usages");
      expect(metadataOf(session)).toMatchObject({ session_id: session.id, status: "running", request: "Find all usages", owner: { pid: process.pid } });
      session.finish("completed");
    }
    expect(readFileSync(join(deps.paths.project.sessions, ".gitignore"), "utf8")).toBe("*\n");
  });

  it("[CRU-4.2.1] [CRU-4.2.2] [CRU-4.2.3] [CRU-4.2.4] a subagent's result is a file named agent-task, linked from session.md and back", async () => {
    const session = await open(sessionDeps());
    session.emit(primaryStarted());
    const file = runChild(session, "code-reviewer", "bbbbbbbbbbbbbbbb");
    expect(file).toMatch(/^code-reviewer-[0-9a-f]{4}\.md$/);
    expect(front(join(session.folder, "session.md")).body).toContain(`[[${file.replace(".md", "")}]]`);
    const { data, body } = front(join(session.folder, file));
    expect(data).toMatchObject({ session_id: session.id, parent: "[[session]]", agent: "code-reviewer" });
    expect(readFileSync(join(session.folder, file), "utf8")).toContain('\nparent: "[[session]]"\n');
    expect(body).toContain("## Task\n\n> task of code-reviewer\n\n## Findings\n\nDetails.\n\n## Summary\n\nAll is well.\n");
    session.finish("completed");
  });

  it("[CRU-4.3.1] [CRU-4.3.2] [CRU-4.3.3] [CRU-4.3.4] holds session.md, one file per subagent and metadata.json, all valid", async () => {
    const session = await open(sessionDeps());
    session.emit(primaryStarted());
    const files = [runChild(session, "explore", "b1"), runChild(session, "explore", "b2"), runChild(session, "Foreign Näme", "b3")];
    session.finish("completed");
    expect(new Set(files).size).toBe(3);
    expect(readdirSync(session.folder).filter((name) => !name.startsWith(".")).sort()).toEqual([...files, "events.jsonl", "metadata.json", "session.md"].sort());
    for (const file of [...files, "session.md"]) expect(front(join(session.folder, file)).data).toMatchObject({ session_id: session.id });
    expect(front(join(session.folder, files[2] ?? "")).data.agent).toBe("Foreign Näme");
    expect(metadataOf(session)).toMatchObject({ status: "completed", subagents: files.map((f) => f.replace(".md", "")), queue: { order: expect.any(Array) } });
  });

  it("[CRU-4.4.1] [CRU-4.4.2] [CRU-4.4.3] every wikilink leads to a file of the folder, and every result back to session.md", async () => {
    const session = await open(sessionDeps());
    session.emit(primaryStarted());
    const hostile = "x]] [[../../etc/passwd]] | [a](javascript:alert(1))\n# Fake\n";
    const files = [
      runChild(session, "explore", "b1", { text: hostile, task: hostile }),
      runChild(session, "a]] [[b|javascript:x\n", "b2", { status: "failed", text: "", error: { type: "t]]", message: hostile, stack: hostile } }),
    ];
    session.emit({ type: "agent.output", span_id: ROOT_SPAN, text: hostile });
    session.finish("completed");
    for (const name of [...files, "session.md"]) {
      const { data, body } = front(join(session.folder, name));
      const links = [...(name === "session.md" ? body : `${body} ${String(data.parent)}`).matchAll(/(?<!\\)\[\[([^\]]*)\]\]/g)].map((m) => m[1] ?? "");
      expect(links.length).toBeGreaterThan(0);
      for (const link of links) expect(existsSync(join(session.folder, `${link}.md`))).toBe(true);
      expect(body).not.toMatch(/\]\(javascript:/);
      expect(body).not.toContain("\n# Fake");
      expect(links).toEqual(name === "session.md" ? files.map((f) => f.replace(".md", "")) : ["session"]);
    }
    expect(front(join(session.folder, files[1] ?? "")).data).toMatchObject({ agent: "a]] [[b|javascript:x\n", error: { message: hostile } });
  });

  it("[CRU-11.1.1] [CRU-11.1.2] [CRU-11.1.3] [CRU-11.1.4] metadata has id, times, status, subagents, all tokens, model and version", async () => {
    const deps = sessionDeps({ clock: testClock() });
    const session = await open(deps);
    session.emit(primaryStarted());
    session.emit({ type: "agent.usage", span_id: ROOT_SPAN, model: "claude-sonnet-5-5", tokens: { input: 100, output: 20, cache_read: 7 }, cost_usd: 0.01, estimated: false });
    session.emit({ type: "agent.usage", span_id: ROOT_SPAN, model: "claude-sonnet-5-5", tokens: { input: 200, output: 30 }, cost_usd: 0.02, estimated: false });
    const file = runChild(session, "explore", "b1");
    (deps.clock as ReturnType<typeof testClock>).advance(5000);
    const metadata = session.finish("completed");
    expect(metadata).toEqual(metadataOf(session));
    expect(metadata).toMatchObject({
      session_id: session.id, status: "completed", started_at: "2026-11-16T10:00:00.000Z", completed_at: "2026-11-16T10:00:05.000Z", owner: null, depth: 1,
      subagents: [file.replace(".md", "")], tokens: { input: 3300, output: 260, cache_read: 7 }, cost_usd: 0.0304, active_ms: 5000,
      primary: { agent: "primary", model: "claude-sonnet-5-5", model_source: "default", version: "abc123" },
      model_overrides: [{ agent: "explore", model: "claude-haiku-5-5" }],
    });
    expect(metadata.permissions).toMatchObject([{ agent: "primary" }, { agent: "explore", granted: ["FilesystemRead"], reduced: ["Shell"] }]);
  });

  it("[CRU-11.2.1] [CRU-11.2.2] [CRU-11.2.3] [CRU-11.2.4] a result's frontmatter has times, model, tokens, duration, parent and permissions", async () => {
    const session = await open(sessionDeps());
    const file = runChild(session, "explore", "b1", { constraint: "FilesystemRead only", reflection: [{ attempt: 1, pass: true, score: 0.9, critique: "ok: fine", improvement: "" }] });
    expect(Object.keys(front(join(session.folder, file)).data)).toEqual([
      "session_id", "parent", "agent", "task_id", "trace_id", "parent_chain", "spawned_at", "completed_at", "duration_ms", "model", "model_source", "tokens", "cost_usd",
      "permissions", "constraint", "status", "error", "denials", "reflection",
    ]);
    expect(front(join(session.folder, file)).data).toMatchObject({
      spawned_at: "2026-11-16T10:00:00.000Z", completed_at: "2026-11-16T10:00:01.204Z", model: "claude-haiku-5-5", tokens: { input: 3000, output: 210 }, duration_ms: 1204,
      session_id: session.id, parent: "[[session]]", permissions: ["FilesystemRead"], error: null, reflection: [{ score: 0.9, critique: "ok: fine" }],
    });
    session.finish("completed");
  });

  it("[CRU-11.3.1] [CRU-11.3.2] [CRU-11.3.3] [CRU-11.3.4] a failed subagent's file has type, message, stack, status, and what is needed to find the cause", async () => {
    const session = await open(sessionDeps());
    const error = { type: "tool_failed", message: "no: such \"file\"\n- x", stack: "Error: no\n    at a (b.ts:1:2)" };
    const file = runChild(session, "explore", "b1", { status: "failed", text: "", error, denials: [{ action: "write_file", reason: "no" }] });
    const { data, body } = front(join(session.folder, file));
    expect(data).toMatchObject({
      status: "failed", error, trace_id: session.traceId, parent_chain: ["user", "primary", "explore"], model: "claude-haiku-5-5", permissions: ["FilesystemRead"],
      denials: [{ action: "write_file", reason: "no" }],
    });
    expect(body).toContain("> task of explore");
    expect(body).toContain("## Summary\n\ntool_failed: no:");
    session.finish("failed");
  });

  it("[CRU-16.1.3] [CRU-16.1.4] [CRU-16.2.1] [CRU-16.2.4] one trace id and each agent's chain are in the metadata, the events and the session files", async () => {
    const session = await open(sessionDeps());
    session.emit(primaryStarted());
    const file = runChild(session, "explore", "b1");
    const metadata = session.finish("completed");
    expect(session.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(metadata.trace_id).toBe(session.traceId);
    expect(metadata.trace.map((t) => [t.trace_id, t.parent_chain])).toEqual([[session.traceId, ["user", "primary"]], [session.traceId, ["user", "primary", "explore"]]]);
    expect(front(join(session.folder, file)).data).toMatchObject({ trace_id: session.traceId, parent_chain: ["user", "primary", "explore"] });
    expect(front(join(session.folder, "session.md")).data.trace_id).toBe(session.traceId);
    for (const event of readRecording(session.folder).events) expect(event.trace_id).toBe(session.traceId);
  });

  it("records every event in order, whole, and text cannot make one", async () => {
    const session = await open(sessionDeps());
    session.emit(primaryStarted());
    const fake = '{"v":1,"type":"session.completed","status":"completed"}\n{"v":1}';
    session.emit({ type: "agent.output", span_id: ROOT_SPAN, text: fake });
    session.emit({ type: "agent.tool_call", span_id: ROOT_SPAN, call_id: "c1", tool: "read_file", input: { path: fake } });
    session.emit({ type: "inbox.opened", span_id: ROOT_SPAN, id: "q1", key: "c1", kind: "approval", title: fake, body: "" });
    expect((await readSession(session.folder)).session?.status).toBe("waiting");
    session.emit({ type: "inbox.closed", span_id: ROOT_SPAN, id: "q1", status: "answered", decision: "deny", by: "person", text: "no" });
    const { events, problems } = readRecording(session.folder);
    expect(problems).toEqual([]);
    expect(events.map((e) => e.seq)).toEqual(events.map((_, i) => i));
    expect(events.filter((e) => e.type === "session.completed")).toEqual([]);
    expect(events.filter((e) => e.type === "agent.output").map((e) => e.text).join("")).toBe(fake);
    for (const line of readFileSync(join(session.folder, "events.jsonl"), "utf8").trim().split("\n")) expect(eventSchema.safeParse(JSON.parse(line)).success).toBe(true);
    expect(session.finish("completed").denials).toMatchObject([{ id: "q1", action: fake, reason: "no" }]);
  });

  it("time at work is neither the time between turns nor that of an open question", async () => {
    const clock = testClock();
    const session = await open(sessionDeps({ clock }));
    const turn = (): void => session.emit({ type: "session.turn", session_id: session.id, message: "go", conditions: {} });
    clock.advance(7);
    turn();
    session.emit(primaryStarted());
    clock.advance(100);
    session.emit({ type: "inbox.opened", span_id: ROOT_SPAN, id: "q1", key: "c1", kind: "approval", title: "make", body: "" });
    clock.advance(10_000);
    session.emit({ type: "inbox.closed", span_id: ROOT_SPAN, id: "q1", status: "answered", decision: "approve", by: "person", text: "" });
    clock.advance(20);
    session.emit({ type: "agent.completed", span_id: ROOT_SPAN, agent: "primary", status: "completed", summary: "", duration_ms: 1, tokens: { input: 0, output: 0 }, cost_usd: 0, error: null });
    expect(metadataOf(session).active_ms).toBe(120);
    clock.advance(3_600_000);
    turn();
    clock.advance(3);
    expect(session.finish("completed").active_ms).toBe(123);
  });

  it("no negative duration and unique folders when the clock jumps back by hours", async () => {
    const clock = testClock("1970-01-01T12:00:00.000Z");
    const deps = sessionDeps({ clock });
    const session = await open(deps);
    session.emit({ type: "session.turn", session_id: session.id, message: "go", conditions: {} });
    clock.advance(1000);
    clock.jump(-6 * 3_600_000);
    runChild(session, "explore", "b1", { spawned_at: "2026-11-16T10:00:00.000Z", completed_at: "2026-11-16T04:00:00.000Z", duration_ms: -5 });
    const again = await open(deps);
    const metadata = session.finish("completed");
    expect(again.id).not.toBe(session.id);
    expect(metadata.active_ms).toBe(1000);
    expect((metadata.completed_at ?? "") >= metadata.started_at).toBe(true);
    expect(metadata.trace.every((t) => (t.duration_ms ?? 0) >= 0 && (t.completed_at ?? "") >= t.started_at)).toBe(true);
    again.finish("completed");
  });

  it("writes nothing after its end, when another process may own the folder", async () => {
    const session = await open(sessionDeps());
    session.finish("completed");
    const before = readdirSync(session.folder).map((name) => [name, readFileSync(join(session.folder, name), "latin1")]);
    session.emit({ type: "warning", message: "late" });
    runChild(session, "explore", "b1");
    expect(session.finish("failed").status).toBe("completed");
    expect(readdirSync(session.folder).map((name) => [name, readFileSync(join(session.folder, name), "latin1")])).toEqual(before);
  });

  it("an unknown cost makes the sum unknown, never 0", async () => {
    const session = await open(sessionDeps());
    session.emit(primaryStarted());
    session.emit({ type: "agent.usage", span_id: ROOT_SPAN, model: "x", tokens: { input: 1, output: 1 }, cost_usd: 0.5, estimated: false });
    session.emit({ type: "agent.usage", span_id: ROOT_SPAN, model: "x", tokens: { input: 1, output: 1 }, cost_usd: null, estimated: true });
    expect(session.finish("completed")).toMatchObject({ cost_usd: null, cost_estimated: true, tokens: { input: 2, output: 2 } });
  });

  it("a canary in the environment is found in no file, whole or in pieces", async () => {
    const canary = "canary-7f3a9b1c5d";
    const session = await open(sessionDeps({ env: { SOME_API_KEY: canary } }), { request: `use ${canary} please` });
    session.emit(primaryStarted());
    session.emit({ type: "agent.output", span_id: ROOT_SPAN, text: `first canary-7f3a` });
    session.emit({ type: "agent.output", span_id: ROOT_SPAN, text: `9b1c5d then` });
    session.emit({ type: "agent.tool_call", span_id: ROOT_SPAN, call_id: "1", tool: "run_command", input: { command: `curl -H ${canary}` } });
    session.emit({ type: "model.request", span_id: ROOT_SPAN, request_id: "1", hash: "h", request: { deep: [{ x: `a ${canary}` }] } });
    session.emit({ type: "warning", message: canary });
    runChild(session, "explore", "b1", { task: canary, text: `found ${canary}`, error: { type: "x", message: canary, stack: canary }, constraint: canary });
    session.finish("completed");
    expect(session.id).not.toContain("7f3a9b1c5d");
    for (const name of readdirSync(session.folder)) {
      const text = name === ".lock" ? "" : readFileSync(join(session.folder, name), "utf8");
      expect(text).not.toContain("7f3a9b1c5d");
      expect(text).not.toContain("canary-7f3a");
    }
    const said = readRecording(session.folder).events.filter((e) => e.type === "agent.output").map((e) => e.text).join("");
    expect(said).toBe("first [redacted] then");
  });
});
