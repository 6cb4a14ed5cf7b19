import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findPaths } from "../../src/config/paths.ts";
import type { Question } from "../../src/contract/question.ts";
import { awaitAnswer } from "../../src/inbox/await-answer.ts";
import { openQuestion, type QuestionInput } from "../../src/inbox/open-question.ts";
import { readWait } from "../../src/inbox/question-file.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createRedactor } from "../../src/lib/redact.ts";
import { type Machine, machine } from "../support/cru.ts";
import { until } from "../support/processes.ts";
import { open, sessionDeps } from "../support/session.ts";

function asked(box: Machine, input: Partial<QuestionInput> = {}): Question {
  return openQuestion(
    {
      kind: "approval", title: "Run make", body: "", options: [], reversible: true, action: { tool: "run_command", input: { command: "make", timeout_s: 5 } }, key: "c1",
      sessionId: "2026-11-16-x", traceId: "t", agent: "primary", spanId: "s1", timeoutMs: 300_000, onTimeout: "abort", ...input,
    },
    { paths: findPaths(box.project, { HOME: box.home }), clock: systemClock, redactor: createRedactor({}) },
  );
}

const answerOf = (box: Machine, id: string): Record<string, unknown> => JSON.parse(readFileSync(join(box.project, ".crucible/inbox", `${id}.answer.json`), "utf8"));

describe("cru inbox", () => {
  it("lists, shows and approves by the start of an id, and says how to go on when nobody waits", async () => {
    const box = machine();
    const { id } = asked(box);
    expect((await box.cru(["inbox", "list"])).stdout).toBe(`${id}  pending    approval    Run make\n`);
    expect(JSON.parse((await box.cru(["inbox", "list", "--json"])).stdout).items).toMatchObject([{ id, kind: "approval", status: "pending", title: "Run make", time_left_ms: 300_000, awaited: false, answer: null }]);
    const shown = await box.cru(["inbox", "show", id.slice(0, 5)]);
    expect(shown.stdout).toContain("  action: run_command\n    command: make\n    timeout_s: 5\n");
    expect(shown.stdout).toContain(`→ \`cru inbox approve ${id}\``);
    expect(shown.stdout).toContain("time left: 300 s, standing still while nobody waits; then: abort");
    const done = await box.cru(["inbox", "approve", id.slice(0, 5), "--set", "timeout_s=60", "--set", "command=make -n"]);
    expect(done).toMatchObject({ code: 0, stdout: `approved ${id}: Run make\nNobody waits for it now; go on with: cru chat --resume 2026-11-16-x\n` });
    expect(answerOf(box, id)).toMatchObject({ decision: "approve", by: "person", set: { timeout_s: 60, command: "make -n" } });
    expect(JSON.parse((await box.cru(["inbox", "show", id, "--json"])).stdout).item).toMatchObject({ status: "answered", answer: { decision: "approve" } });
    expect(await box.cru(["inbox", "list", "--pending"])).toMatchObject({ stdout: "", stderr: "Nothing waits for you.\n" });
  });

  it("an answered item exits 1 and says who was first; an unknown one exits 2", async () => {
    const box = machine();
    const { id } = asked(box);
    expect((await box.cru(["inbox", "deny", id, "--reason", "use the other one"])).code).toBe(0);
    expect(answerOf(box, id)).toMatchObject({ decision: "deny", text: "use the other one" });
    const again = await box.cru(["inbox", "approve", id, "--json"]);
    expect(again).toMatchObject({ code: 1 });
    expect(again.stderr).toContain(`${id} is already answered (deny) by person`);
    expect(JSON.parse(again.stdout)).toMatchObject({ error: { code: "failed" } });
    expect((await box.cru(["inbox", "approve", "nothing"])).code).toBe(2);
    expect((await box.cru(["inbox", "show", "../../x"])).code).toBe(2);
  });

  it("what cannot be undone needs its word", async () => {
    const box = machine();
    const { id } = asked(box, { reversible: false, action: { tool: "database_execute", input: { sql: "drop table x" } } });
    const refused = await box.cru(["inbox", "approve", id]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain(`cru inbox approve ${id} --confirm database_execute`);
    expect((await box.cru(["inbox", "approve", id, "--confirm", "yes"])).code).toBe(2);
    expect((await box.cru(["inbox", "approve", id, "--confirm", "database_execute", "--json"])).code).toBe(0);
  });

  it("answers a question with words or with one of its options", async () => {
    const box = machine();
    const [a, b] = [asked(box, { kind: "question", action: null, key: "a" }), asked(box, { kind: "question", action: null, key: "b", options: ["keep it", "drop it"] })];
    expect((await box.cru(["inbox", "approve", a.id])).code).toBe(2);
    expect((await box.cru(["inbox", "answer", a.id, "keep the old name"])).stdout).toContain(`answered ${a.id}`);
    expect(answerOf(box, a.id)).toMatchObject({ decision: "answer", text: "keep the old name" });
    expect((await box.cru(["inbox", "show", b.id])).stdout).toContain("  1. keep it\n  2. drop it\n");
    for (const none of ["7", "0", "3 "]) {
      const refused = await box.cru(["inbox", "answer", b.id, none]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`there is no option ${none.trim()} (1. keep it, 2. drop it)`) });
    }
    await box.cru(["inbox", "answer", b.id, "2"]);
    expect(answerOf(box, b.id).text).toBe("drop it");
  });

  it("refuses a changed path that the tool would refuse, and says when a confirmation was not needed", async () => {
    const box = machine();
    const { id } = asked(box, { action: { tool: "write_file", input: { path: "a.txt", content: "x" } } });
    for (const path of ["../out.txt", "/etc/passwd"]) {
      const refused = await box.cru(["inbox", "approve", id, "--set", `path=${path}`]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/would not be valid: path: .*\n {2}→ nothing was answered; it still waits/) });
    }
    expect(await box.cru(["inbox", "approve", id, "--set", "path=b/c.txt", "--confirm", "x"])).toMatchObject({ code: 0, stderr: "note: it can be undone, so --confirm was not needed\n" });
    expect(answerOf(box, id).set).toEqual({ path: "b/c.txt" });
  });

  it("numbers the options where the body explains them, instead of listing them twice", async () => {
    const box = machine();
    const { id } = asked(box, { kind: "question", action: null, body: "- keep it: nothing changes\n- drop it\n\nSeveral may be chosen.", options: ["keep it", "drop it"] });
    const { stdout } = await box.cru(["inbox", "show", id]);
    expect(stdout).toContain("  1. keep it: nothing changes\n  2. drop it\n\n  Several may be chosen.\n");
    expect(stdout.match(/keep it/g)).toHaveLength(1);
  });

  it("takes all words as the answer, and a number that is the name of an option", async () => {
    const box = machine();
    const [a, b] = [asked(box, { kind: "question", action: null, key: "a" }), asked(box, { kind: "question", action: null, key: "b", options: ["8", "16"] })];
    expect((await box.cru(["inbox", "answer", a.id, "keep", "the", "old", "name"])).code).toBe(0);
    expect(answerOf(box, a.id).text).toBe("keep the old name");
    await box.cru(["inbox", "answer", b.id, "16"]);
    expect(answerOf(box, b.id).text).toBe("16");
  });

  it("a live owner goes on by itself", async () => {
    const box = machine();
    const paths = findPaths(box.project, { HOME: box.home });
    const question = asked(box);
    const answer = awaitAnswer(question, { paths, clock: systemClock, signal: new AbortController().signal });
    await until(() => readWait(paths.project.inbox, question.id) !== undefined);
    expect((await box.cru(["inbox", "approve", question.id])).stdout).toContain("The agent that asked goes on.");
    expect(await answer).toMatchObject({ decision: "approve" });
  });

  it("points a run's question to its run, and records that the session's owner is gone", async () => {
    const box = machine();
    const deps = sessionDeps({ paths: findPaths(box.project, { HOME: box.home }) });
    const session = await open(deps);
    session.finish("waiting");
    const path = join(session.folder, "metadata.json");
    const { writeFileSync } = await import("node:fs");
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), status: "running", owner: { pid: process.pid, started: "long ago" } }));
    const { id } = asked(box, { sessionId: session.id, workflowId: "app-7-20261116100000-1a2b" });
    expect((await box.cru(["inbox", "deny", id])).stdout).toContain("cru workflows resume app-7-20261116100000-1a2b");
    expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ status: "interrupted", owner: null });
  });

  it("shows hostile text inert everywhere", async () => {
    const box = machine();
    const bad = "safe?\u001b[2J\u001b]0;x\u0007\rovertype\u202egnp.exe\u0000\u009b31m";
    const { id } = asked(box, { title: bad, body: `${bad}\nsecond`, options: [bad], agent: bad, action: { tool: bad, input: { x: bad } }, kind: "permission" });
    const outputs = [];
    for (const args of [["list"], ["show", id], ["deny", id, "--reason", bad.replaceAll("\u0000", "")], ["show", id], ["list"]]) outputs.push(await box.cru(["inbox", ...args]));
    for (const { stdout, stderr, code } of outputs) {
      expect(code).toBe(0);
      // oxlint-disable-next-line no-control-regex
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
      expect(stdout).toContain("safe?␛[2J");
    }
    const json = (await box.cru(["inbox", "show", id, "--json"])).stdout;
    // oxlint-disable-next-line no-control-regex
    expect(json).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(JSON.parse(json).item.title).toBe(bad);
  });
});
