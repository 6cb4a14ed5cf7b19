import { appendFileSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { sessionMetadataSchema } from "../../src/contract/session.ts";
import { endInterruptedAgents } from "../../src/session/end-interrupted-agents.ts";
import { recordInterruption, resumeSession } from "../../src/session/open-session.ts";
import { openCalls, readRecording, readSession } from "../../src/session/read-session.ts";
import { until } from "../support/processes.ts";
import { program, seeded, start } from "../support/program.ts";
import { childStarted, open, primaryStarted, ROOT_SPAN, runChild, sessionDeps, testClock, testPaths } from "../support/session.ts";
import { systemClock } from "../../src/lib/clock.ts";

/** A session that works until it is killed: text, calls, subagents, questions, without end. */
const worker = `
  import { findPaths } from "@src/config/paths.ts";
  import { openSession } from "@src/session/open-session.ts";
  import { systemClock } from "@src/lib/clock.ts";
  import { childStarted, childResult, primaryStarted, ROOT_SPAN } from "@src/../test/support/session.ts";
  const root = process.argv[2];
  const deps = { paths: findPaths(root, { HOME: root }), env: {}, clock: systemClock, warn() {} };
  const session = await openSession({ request: "work", agent: "primary", version: "1", model: "m-1", modelSource: "default", runner: "model" }, deps);
  session.emit(primaryStarted());
  console.log(session.id);
  for (let n = 0; ; n++) {
    session.emit({ type: "agent.output", span_id: ROOT_SPAN, text: "say " + "x".repeat(n % 5000) });
    session.emit({ type: "agent.tool_call", span_id: ROOT_SPAN, call_id: "c" + n, tool: "read_file", input: { path: "a".repeat(n % 3000) } });
    session.emit({ type: "agent.tool_result", span_id: ROOT_SPAN, call_id: "c" + n, tool: "read_file", ok: true, output: "y".repeat(9000), duration_ms: 1 });
    const span = "b" + n;
    const taskId = session.taskId("explore", span);
    session.emit(childStarted("explore", taskId, span));
    const result = childResult("explore", taskId);
    session.emit({ type: "agent.completed", span_id: span, agent: "explore", status: "completed", summary: "s", duration_ms: 1, tokens: result.tokens, cost_usd: 0, error: null, file: session.writeResult(result) });
    await new Promise((r) => setImmediate(r));
  }
`;

const SEED = 20_261_116;

function moments(count: number): number[] {
  const random = seeded(SEED);
  return Array.from({ length: count }, () => Math.floor(random() * 80));
}

describe("a session after kill -9", () => {
  it.each(moments(process.env.CRU_TEST_LONG === "1" ? 50 : 6))(`always parses, shows as interrupted, and can be resumed to its end (seed ${SEED}, %i ms after its start)`, async (moment) => {
    const paths = testPaths();
    const child = start(await program(worker), [paths.root]);
    await until(() => child.output().endsWith("\n"));
    await new Promise((resolve) => setTimeout(resolve, moment));
    child.kill("SIGKILL");
    await child.ended;
    const folder = join(paths.project.sessions, child.output().trim());
    const before = await readSession(folder);
    expect(before.problems).toEqual([]);
    expect(before.session?.status).toBe("interrupted");
    expect(before.session?.metadata.status).not.toBe("interrupted");
    const recorded = readRecording(folder).events.length;
    expect(openCalls(readRecording(folder).events).length).toBeLessThanOrEqual(1);

    const deps = sessionDeps({ paths, clock: systemClock });
    const { session, events } = await resumeSession(child.output().trim().slice(0, -1), deps);
    expect(events.length).toBe(recorded);
    endInterruptedAgents(session, { lastSeen: events.at(-1)?.ts ?? "" });
    const metadata = session.finish("completed");
    expect(metadata.trace.filter((t) => t.depth > 0 && t.status === "running")).toEqual([]);
    for (const name of readdirSync(folder).filter((f) => f.endsWith(".md"))) {
      const [, yaml = ""] = /^---\n([\s\S]*?)\n---\n/.exec(readFileSync(join(folder, name), "utf8")) ?? [];
      expect(load(yaml)).toMatchObject({ session_id: metadata.session_id });
    }
    for (const link of readFileSync(join(folder, "session.md"), "utf8").matchAll(/\[\[([^\]]+)\]\]/g)) expect(readdirSync(folder)).toContain(`${link[1]}.md`);
    expect(readdirSync(folder).filter((name) => name.endsWith(".tmp"))).toEqual([]);
    const seqs = readRecording(folder).events.map((e) => e.seq);
    expect(seqs).toEqual(seqs.map((_, i) => i));
  });

  it("readers write nothing; the command that may write records it, once", async () => {
    const paths = testPaths();
    const child = start(await program(worker), [paths.root]);
    await until(() => child.output().endsWith("\n"));
    const id = child.output().trim();
    const deps = sessionDeps({ paths });
    await expect(resumeSession(id, deps)).rejects.toThrow(`session ${id} is in use by process ${child.pid}`);
    expect(await recordInterruption(id, deps)).toBe(false);
    child.kill("SIGKILL");
    await child.ended;
    const path = join(paths.project.sessions, id, "metadata.json");
    const before = readFileSync(path, "utf8");
    await readSession(join(paths.project.sessions, id));
    expect(readFileSync(path, "utf8")).toBe(before);
    expect(await recordInterruption(id, deps)).toBe(true);
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ status: "interrupted", owner: null, completed_at: null });
    expect(readFileSync(join(paths.project.sessions, id, "session.md"), "utf8")).toContain("\nstatus: interrupted\n");
  });
});

describe("a session on a disk without room", () => {
  it("stops with the reason, claims no success, and goes on when there is room", async () => {
    const paths = testPaths();
    const file = await program(worker.replace("for (let n = 0; ; n++) {", "try { for (let n = 0; ; n++) {").concat("} catch (error) { console.log(JSON.stringify({ code: error.code, message: error.message })); }"));
    // The limit of a file's size stands for the end of the disk: a write comes back short, the next one is refused.
    const child = start("/bin/sh", ["-c", 'ulimit -f 200; exec "$@"', "sh", process.execPath, file, paths.root]);
    await child.ended;
    const [id = "", error = ""] = child.output().trim().split("\n");
    expect(JSON.parse(error)).toMatchObject({ code: "failed", message: expect.stringMatching(/cannot be written: (the file would be too large|the disk is full)/) });
    const folder = join(paths.project.sessions, id);
    expect(await readSession(folder)).toMatchObject({ session: { status: "interrupted" }, problems: [] });
    expect(readRecording(folder).problems).toEqual([]);
    const { session } = await resumeSession(id, sessionDeps({ paths, clock: systemClock }));
    endInterruptedAgents(session, { lastSeen: session.metadata().started_at });
    expect(session.finish("completed").status).toBe("completed");
  });
});

describe("resume", () => {
  it("goes on with the same id, trace, numbers, text, open calls and time at work", async () => {
    const clock = testClock();
    const deps = sessionDeps({ clock });
    const first = await open(deps);
    first.emit(primaryStarted());
    first.emit({ type: "agent.tool_call", span_id: ROOT_SPAN, call_id: "c1", tool: "run_command", input: { command: "make" } });
    clock.advance(1500);
    first.emit({ type: "inbox.opened", span_id: ROOT_SPAN, id: "q1", key: "c1", kind: "approval", title: "make", body: "" });
    clock.advance(1500);
    first.finish("waiting");
    expect((await readSession(first.folder)).session?.status).toBe("waiting");
    clock.jump(-10 * 3_600_000);

    const { session, events } = await resumeSession(first.id, deps);
    expect(session).toMatchObject({ id: first.id, traceId: first.traceId });
    expect(openCalls(events)).toMatchObject([{ call_id: "c1", tool: "run_command" }]);
    session.emit({ type: "inbox.closed", span_id: ROOT_SPAN, id: "q1", status: "answered", decision: "approve", by: "person", text: "", before: { command: "make" }, after: { command: "make -n" } });
    session.emit({ ...primaryStarted(), span_id: "cccccccccccccccc" } as never);
    clock.advance(500);
    const metadata = session.finish("completed");
    expect(metadata).toMatchObject({ status: "completed", active_ms: 2000, waiting: [], modifications: [{ id: "q1", before: { command: "make" }, after: { command: "make -n" } }] });
    expect(metadata.trace.filter((t) => t.depth === 0)).toHaveLength(1);
    expect((metadata.completed_at ?? "") >= metadata.started_at).toBe(true);
    const text = readFileSync(join(session.folder, "session.md"), "utf8");
    expect(text.indexOf("run_command")).toBeLessThan(text.indexOf("*resumed at"));
    const seqs = readRecording(session.folder).events.map((e) => e.seq);
    expect(seqs).toEqual(seqs.map((_, i) => i));
  });

  it("gives a subagent that never ended its file and its end; one that is taken up again is kept", async () => {
    const deps = sessionDeps();
    const first = await open(deps);
    first.emit(primaryStarted());
    first.emit(childStarted("explore", "1a2b", "b1"));
    first.emit(childStarted("explore", "3c4d", "b2"));
    first.finish("interrupted");
    const { session } = await resumeSession(first.id, deps);
    endInterruptedAgents(session, { lastSeen: "2026-11-16T10:00:02.000Z", keep: new Set(["b2"]) });
    const { trace } = session.finish("completed");
    expect(trace.map((t) => [t.span_id, t.status, t.error?.type])).toEqual([[ROOT_SPAN, "running", undefined], ["b1", "failed", "interrupted"], ["b2", "running", undefined]]);
    expect(readFileSync(join(session.folder, "explore-1a2b.md"), "utf8")).toContain("type: interrupted");
  });

  it.each([
    ["missing", (path: string) => rmSync(path)],
    ["empty", (path: string) => truncateSync(path)],
    ["half", (path: string) => truncateSync(path, 100)],
    ["foreign", (path: string) => writeFileSync(path, '{"schema":1,"hello":"world"}')],
  ])("metadata.json that is %s is added up from the events again", async (_, damage) => {
    const deps = sessionDeps();
    const session = await open(deps);
    session.emit(primaryStarted());
    runChild(session, "explore", "b1");
    const good = session.finish("completed");
    damage(join(session.folder, "metadata.json"));
    const read = await readSession(session.folder);
    expect(read.session).toMatchObject({ status: "completed", metadata: { session_id: good.session_id, trace_id: good.trace_id, request: good.request, tokens: good.tokens, subagents: good.subagents, trace: good.trace } });
    const resumed = await resumeSession(session.id, deps);
    expect(sessionMetadataSchema.parse(resumed.session.finish("completed"))).toMatchObject({ tokens: good.tokens, trace: good.trace });
  });

  it("moves a torn tail of the recording away with one warning and goes on", async () => {
    const deps = sessionDeps();
    const first = await open(deps);
    first.emit(primaryStarted());
    first.finish("interrupted");
    appendFileSync(join(first.folder, "events.jsonl"), '{"v":1,"ts":"2026');
    const { session, events } = await resumeSession(first.id, deps);
    expect(deps.warnings).toHaveLength(1);
    expect(deps.warnings[0]).toContain("events.jsonl.corrupt");
    expect(events.map((e) => e.type)).toEqual(["session.started", "agent.started", "session.completed"]);
    session.finish("completed");
    expect(readRecording(session.folder).problems).toEqual([]);
  });

  it("refuses what a newer version wrote", async () => {
    const deps = sessionDeps();
    const session = await open(deps);
    session.finish("completed");
    writeFileSync(join(session.folder, "metadata.json"), '{"schema":2}');
    expect((await readSession(session.folder)).problems).toMatchObject([{ code: "record.newer" }]);
    await expect(resumeSession(session.id, deps)).rejects.toThrow("newer Crucible");
  });
});
