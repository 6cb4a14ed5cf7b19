import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findPaths } from "../../src/config/paths.ts";
import { type Machine, machine } from "../support/cru.ts";
import { open, primaryStarted, ROOT_SPAN, runChild, sessionDeps, testClock } from "../support/session.ts";

/** A finished session with three subagents, the second of which failed. */
async function recorded(): Promise<{ box: Machine; id: string; traceId: string; files: string[] }> {
  const box = machine();
  const clock = testClock();
  const deps = sessionDeps({ paths: findPaths(box.project, { HOME: box.home }), clock });
  const session = await open(deps, { request: "Review \u001b[31mall\u202e" });
  session.emit(primaryStarted());
  clock.advance(400);
  const files = [runChild(session, "code-reviewer", "b1")];
  clock.advance(1000);
  files.push(runChild(session, "test-generator", "b2", { status: "failed", text: "", duration_ms: 90, error: { type: "tool_failed", message: "no such file\u001b[2J", stack: "at x" } }));
  files.push(runChild(session, "explore", "b3", { status: "timeout", duration_ms: 60_000, tokens: { input: 1_000_000, output: 234 }, cost_usd: null }));
  session.emit({ type: "agent.output", span_id: ROOT_SPAN, text: "Done \u001b]0;title\u0007" });
  session.emit({ type: "agent.completed", span_id: ROOT_SPAN, agent: "primary", status: "completed", summary: "Done", duration_ms: 61_500, tokens: { input: 5000, output: 600 }, cost_usd: 0.02, error: null });
  session.finish("completed");
  return { box, id: session.id, traceId: session.traceId, files };
}

describe("cru sessions trace", () => {
  it("[CRU-16.3.1] [CRU-16.3.2] [CRU-16.3.3] [CRU-16.3.4] shows a tree with spawn order, timing, tokens and failures", async () => {
    const { box, id, traceId } = await recorded();
    const { code, stdout } = await box.cru(["sessions", "trace", id]);
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      `trace ${traceId} · session ${id} · completed · 1,012,254 tok · unknown`,
      "[primary] claude-sonnet-5-5 (61,500 ms, 5,600 tok) ✓",
      "├─ [code-reviewer] claude-haiku-5-5 (1,204 ms, 3,210 tok) ✓ · spawn 1, +400 ms",
      "├─ [test-generator] claude-haiku-5-5 (90 ms, 3,210 tok) ✗ tool_failed: no such file␛[2J · spawn 2, +1,400 ms",
      "│  chain: user → primary → test-generator",
      "│  parent was attempting: review the change",
      "│  task: task of test-generator",
      expect.stringMatching(/^│ {2}details: test-generator-[0-9a-f]{4}\.md$/),
      "└─ [explore] claude-haiku-5-5 (60,000 ms, 1,000,234 tok) ✗ timeout · spawn 3, +1,400 ms",
      "",
    ]);
  });

  it("[CRU-16.2.2] [CRU-16.2.3] [CRU-16.4.4] prints JSON in which an error is traced to its root without the session", async () => {
    const { box, id, traceId, files } = await recorded();
    const { stdout } = await box.cru(["sessions", "trace", id.slice(0, -1), "--json"]);
    const trace = JSON.parse(stdout);
    expect(trace.trace_id).toBe(traceId);
    expect(trace.root).toMatchObject({ agent: "primary", model: "claude-sonnet-5-5", status: "completed", duration_ms: 61_500, tokens: { input: 5000, output: 600 }, cost_usd: 0.02, error: null });
    expect(trace.root.children.map((c: { agent: string }) => c.agent)).toEqual(["code-reviewer", "test-generator", "explore"]);
    expect(trace.root.children[1]).toMatchObject({
      status: "failed", error: { type: "tool_failed", stack: "at x" }, parent_chain: ["user", "primary", "test-generator"], parent_attempt: "review the change",
      task: "task of test-generator", file: files[1], started_at: "2026-11-16T10:00:01.400Z", children: [],
    });
    expect(trace.root.children[2].cost_usd).toBeNull();
  });

  it("an unknown id exits 2 and says what is near", async () => {
    const { box, id } = await recorded();
    const { code, stderr } = await box.cru(["sessions", "trace", `${id}x`]);
    expect(code).toBe(2);
    expect(stderr).toContain(`did you mean '${id}'?`);
  });
});

describe("cru sessions list and show", () => {
  it("lists the newest first, as text and as JSON, and keeps git clean", async () => {
    const { box, id } = await recorded();
    const text = await box.cru(["sessions", "list"]);
    expect(text).toMatchObject({ code: 0 });
    expect(text.stdout).toMatch(/^2026-11-16-review-31mall {2}completed {4}1,012,254 tok {3}unknown {2}Review ␛\[31mall<U\+202E>\n$/);
    const { sessions } = JSON.parse((await box.cru(["sessions", "list", "--json", "--limit", "3"])).stdout);
    expect(sessions).toMatchObject([{
      id, status: "completed", started_at: "2026-11-16T10:00:00.000Z", completed_at: "2026-11-16T10:00:01.400Z", model: "claude-sonnet-5-5",
      tokens: { input: 1_011_000, output: 1254 }, cost_usd: null, path: `.crucible/sessions/${id}`,
    }]);
    execFileSync("git", ["init", "-q"], { cwd: box.project });
    expect(execFileSync("git", ["status", "--porcelain"], { cwd: box.project, encoding: "utf8" })).toBe("");
  });

  it("shows a session whose owner is dead as interrupted and does not write", async () => {
    const { box, id } = await recorded();
    const path = join(box.project, ".crucible/sessions", id, "metadata.json");
    const metadata = { ...JSON.parse(readFileSync(path, "utf8")), status: "running", owner: { pid: process.pid, started: "another-process" } };
    writeFileSync(path, JSON.stringify(metadata));
    const before = readFileSync(path, "utf8");
    expect(JSON.parse((await box.cru(["sessions", "list", "--json"])).stdout).sessions[0].status).toBe("interrupted");
    expect((await box.cru(["sessions", "show", id])).stdout).toContain(`cru chat --resume ${id}`);
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  it("prints session.md inert, with the files of the folder", async () => {
    const { box, id, files } = await recorded();
    const { stdout, code } = await box.cru(["sessions", "show", id]);
    expect(code).toBe(0);
    expect(stdout).toContain("Done ␛]0;title␇");
    // oxlint-disable-next-line no-control-regex
    expect(stdout).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u202e]/);
    for (const file of [...files, "events.jsonl", "metadata.json", "session.md"]) expect(stdout).toContain(`  ${file}  `);
    const json = JSON.parse((await box.cru(["sessions", "show", id, "--json"])).stdout);
    expect(json.session).toMatchObject({ id, status: "completed", trace: expect.any(Array) });
    expect(json.files.map((f: { name: string }) => f.name)).toContain("session.md");
  });

  it("says so when there is none, and refuses a limit that is no number", async () => {
    const box = machine();
    expect(await box.cru(["sessions", "list"])).toMatchObject({ code: 0, stdout: "", stderr: "No sessions yet: `cru chat` starts one.\n" });
    expect(JSON.parse((await box.cru(["sessions", "list", "--json"])).stdout)).toMatchObject({ sessions: [] });
    expect((await box.cru(["sessions", "list", "--limit", "many"])).code).toBe(2);
    expect((await box.cru(["sessions", "show", "x"])).code).toBe(2);
  });
});
