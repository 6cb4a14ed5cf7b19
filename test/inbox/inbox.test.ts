import { execFileSync } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Paths } from "../../src/config/paths.ts";
import { CruError } from "../../src/contract/error.ts";
import type { Question } from "../../src/contract/question.ts";
import { answerQuestion, withdrawQuestion } from "../../src/inbox/answer-question.ts";
import { awaitAnswer } from "../../src/inbox/await-answer.ts";
import { findQuestion, listInbox, readItem } from "../../src/inbox/list-inbox.ts";
import { openQuestion, type QuestionInput } from "../../src/inbox/open-question.ts";
import { readWait } from "../../src/inbox/question-file.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { createRedactor } from "../../src/lib/redact.ts";
import { until } from "../support/processes.ts";
import { program, start } from "../support/program.ts";
import { testClock, testPaths } from "../support/session.ts";

const redactor = createRedactor({});

let asked = 0;

function ask(paths: Paths, input: Partial<QuestionInput> = {}, clock: Clock = systemClock): Question {
  return openQuestion(
    {
      kind: "approval", title: "Write .mcp.json", body: "", options: [], reversible: true, action: { tool: "write_file", input: { path: ".mcp.json", content: "{}" } },
      sessionId: "2026-11-16-x", traceId: "t", agent: "primary", spanId: "s1", key: String(asked++), timeoutMs: 300_000, onTimeout: "abort", ...input,
    },
    { paths, clock, redactor },
  );
}

const answering = (paths: Paths, clock: Clock = systemClock) => ({ paths, clock });
const code = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof CruError) return error.code;
    throw error;
  }
  return "no error";
};

/** Waits without a person: every pause is a step of the clock. */
function waiting(paths: Paths, clock: ReturnType<typeof testClock>, signal = new AbortController().signal) {
  return { paths, clock, signal, pause: async (ms: number) => clock.advance(ms) };
}

describe("inbox", () => {
  it("writes the whole record before anyone is asked, without secrets", () => {
    const paths = testPaths();
    const clock = testClock();
    const question = openQuestion(
      { kind: "permission", title: "t", body: "key canary-123456", options: [], reversible: false, action: { tool: "database_execute", input: { sql: "x" } }, sessionId: "s", traceId: "t", agent: "a", spanId: "s1", key: "c1", timeoutMs: 1000, onTimeout: "approve" },
      { paths, clock, redactor: createRedactor({ A_TOKEN: "canary-123456" }) },
    );
    const record = JSON.parse(readFileSync(join(paths.project.inbox, `${question.id}.json`), "utf8"));
    expect(record).toEqual(question);
    expect(record).toMatchObject({ v: 1, kind: "permission", confirm_word: "database_execute", on_timeout: "abort", body: "key [redacted]", time_left_ms: 1000, action_hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(readFileSync(join(paths.project.inbox, ".gitignore"), "utf8")).toBe("*\n");
    expect(ask(paths, { kind: "question" }).time_left_ms).toBeNull();
  });

  it("a record that an earlier process wrote but did not get to ask is not written twice", () => {
    const paths = testPaths();
    const first = ask(paths, { key: "c1" });
    expect(ask(paths, { key: "c1" })).toEqual(first);
    const others = [ask(paths, { key: "c2" }), ask(paths, { key: "c1", spanId: "s2" }), ask(paths, { key: "c1", action: { tool: "write_file", input: {} } })];
    answerQuestion({ id: first.id, decision: "deny" }, answering(paths));
    others.push(ask(paths, { key: "c1" }));
    expect(new Set([first, ...others].map((q) => q.id)).size).toBe(5);
  });

  it("the first answer wins and the second is told who won", async () => {
    const paths = testPaths();
    const { id } = ask(paths);
    expect(answerQuestion({ id, decision: "approve", set: { content: "[]" } }, answering(paths))).toMatchObject({ status: "answered", by: "person", set: { content: "[]" } });
    expect(() => answerQuestion({ id, decision: "deny" }, answering(paths))).toThrow(/already answered \(approve\) by person at /);
    expect(await readItem(paths, id)).toMatchObject({ status: "answered", answer: { decision: "approve" } });
    expect(readdirSync(paths.project.inbox).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("of racing answers from many processes exactly one wins", async () => {
    const racers = process.env.CRU_TEST_LONG === "1" ? 200 : 10;
    const paths = testPaths();
    const { id } = ask(paths);
    const go = join(paths.root, "go");
    execFileSync("mkfifo", [go]);
    const file = await program(`
      import { findPaths } from "@src/config/paths.ts";
      import { answerQuestion } from "@src/inbox/answer-question.ts";
      import { systemClock } from "@src/lib/clock.ts";
      import { openSync } from "node:fs";
      const [root, id, text, go] = process.argv.slice(2);
      console.log("ready");
      // A pipe opens for all of its readers at once, when somebody opens its other end.
      openSync(go, "r");
      try {
        answerQuestion({ id, decision: "deny", text }, { paths: findPaths(root, { HOME: root }), clock: systemClock });
        console.log("won");
      } catch (error) {
        console.log(error.code === "failed" && error.message.includes("already answered") ? "lost" : error.stack);
      }
    `);
    const all: ReturnType<typeof start>[] = [];
    for (let n = 0; n < racers; n++) {
      all.push(start(file, [paths.root, id, `racer ${n}`, go]));
      // A few at a time come up; all of them stand at the line together.
      if (n % 10 === 9) await until(() => all.every((one) => one.output().includes("ready")));
    }
    await until(() => all.every((one) => one.output().includes("ready")));
    const line = openSync(go, "w");
    await Promise.all(all.map((one) => one.ended));
    closeSync(line);
    const words = all.map((one) => one.output().replace("ready", "").trim());
    expect(words.filter((word) => word === "won")).toHaveLength(1);
    expect(words.filter((word) => word === "lost")).toHaveLength(racers - 1);
    expect((await readItem(paths, id))?.answer?.text).toBe(`racer ${words.indexOf("won")}`);
  });

  it("refuses an action that was changed, a wrong hash, and a missing or wrong confirmation", () => {
    const paths = testPaths();
    const { id, action_hash } = ask(paths, { reversible: false, confirmWord: "push" });
    const path = join(paths.project.inbox, `${id}.json`);
    const good = readFileSync(path, "utf8");
    expect(code(() => answerQuestion({ id, decision: "approve", confirm: "push", actionHash: "0".repeat(64) }, answering(paths)))).toBe("failed");
    writeFileSync(path, good.replace(".mcp.json\",", "other\","));
    expect(() => answerQuestion({ id, decision: "approve", confirm: "push" }, answering(paths))).toThrow("its action was changed");
    writeFileSync(path, good.replace('"reversible": false', '"reversible": true'));
    expect(() => answerQuestion({ id, decision: "approve" }, answering(paths))).toThrow("its action was changed");
    writeFileSync(path, good);
    expect(code(() => answerQuestion({ id, decision: "approve" }, answering(paths)))).toBe("usage");
    expect(code(() => answerQuestion({ id, decision: "approve", confirm: "Push" }, answering(paths)))).toBe("usage");
    expect(answerQuestion({ id, decision: "approve", confirm: "push", actionHash: action_hash }, answering(paths)).decision).toBe("approve");
  });

  it("refuses words for decisions, decisions for words, unknown parameters and empty answers", () => {
    const paths = testPaths();
    const approval = ask(paths).id;
    const question = ask(paths, { kind: "question", action: null, options: ["keep", "drop"] }).id;
    expect(code(() => answerQuestion({ id: approval, decision: "answer", text: "yes" }, answering(paths)))).toBe("usage");
    expect(code(() => answerQuestion({ id: question, decision: "approve" }, answering(paths)))).toBe("usage");
    expect(code(() => answerQuestion({ id: question, decision: "answer", text: " " }, answering(paths)))).toBe("usage");
    expect(() => answerQuestion({ id: approval, decision: "approve", set: { pth: "x" } }, answering(paths))).toThrow(expect.objectContaining({ hint: "did you mean 'path'?" }));
    expect(code(() => answerQuestion({ id: approval, decision: "approve", set: { constructor: "x" } }, answering(paths)))).toBe("usage");
    expect(answerQuestion({ id: question, decision: "answer", text: "2" }, answering(paths)).text).toBe("drop");
    expect(code(() => answerQuestion({ id: "00000000", decision: "deny" }, answering(paths)))).toBe("not_found");
  });

  it("a waiting owner goes on when another process answers", async () => {
    const paths = testPaths();
    const question = ask(paths);
    const answer = awaitAnswer(question, { ...answering(paths), signal: new AbortController().signal });
    await until(() => readWait(paths.project.inbox, question.id)?.owner?.pid === process.pid);
    expect((await readItem(paths, question.id))?.awaited).toBe(true);
    const file = await program(`
      import { findPaths } from "@src/config/paths.ts";
      import { answerQuestion } from "@src/inbox/answer-question.ts";
      import { systemClock } from "@src/lib/clock.ts";
      const [root, id] = process.argv.slice(2);
      answerQuestion({ id, decision: "approve" }, { paths: findPaths(root, { HOME: root }), clock: systemClock });
    `);
    expect(await start(file, [paths.root, question.id]).ended).toBe(0);
    expect(await answer).toMatchObject({ decision: "approve", by: "person" });
    expect(readWait(paths.project.inbox, question.id)?.owner).toBeNull();
  });

  it("the clock runs only while an owner waits, and a restart goes on with the time left", async () => {
    const paths = testPaths();
    const clock = testClock();
    const question = ask(paths, { timeoutMs: 10_000 }, clock);
    const stop = new AbortController();
    let steps = 0;
    const first = awaitAnswer(question, { ...waiting(paths, clock, stop.signal), pause: async (ms) => {
      clock.advance(ms);
      if (++steps === 16) stop.abort();
    } });
    expect(await first).toBeUndefined();
    expect(await readItem(paths, question.id)).toMatchObject({ status: "pending", awaited: false, timeLeftMs: 6000 });
    clock.advance(24 * 3_600_000);
    expect((await readItem(paths, question.id))?.timeLeftMs).toBe(6000);
    const before = clock.monotonicMs();
    expect(await awaitAnswer(question, waiting(paths, clock))).toMatchObject({ status: "expired", decision: "deny", by: "timeout" });
    expect(clock.monotonicMs() - before).toBe(6000);
    expect((await listInbox(paths)).items.map((item) => item.status)).toEqual(["expired"]);
    expect(() => answerQuestion({ id: question.id, decision: "approve" }, answering(paths))).toThrow("is already expired");
  });

  it("the time left survives kill -9 of the owner to within a second or two", async () => {
    const paths = testPaths();
    const question = ask(paths, { timeoutMs: 100_000 });
    const file = await program(`
      import { findPaths } from "@src/config/paths.ts";
      import { awaitAnswer } from "@src/inbox/await-answer.ts";
      import { readQuestion } from "@src/inbox/question-file.ts";
      let at = 0;
      const paths = findPaths(process.argv[2], { HOME: process.argv[2] });
      // Each pause is a second of waiting, so that the test need not wait for it.
      const clock = { now: () => new Date(), monotonicMs: () => at };
      const pause = async () => { at += 1000; await new Promise((r) => setTimeout(r, 5)); };
      console.log("waiting");
      await awaitAnswer(readQuestion(paths.project.inbox, process.argv[3]), { paths, clock, pause, signal: new AbortController().signal });
    `);
    const owner = start(file, [paths.root, question.id]);
    await until(() => (readWait(paths.project.inbox, question.id)?.time_left_ms ?? 100_000) < 95_000);
    owner.kill("SIGKILL");
    await owner.ended;
    const item = await readItem(paths, question.id);
    expect(item).toMatchObject({ status: "pending", awaited: false });
    expect(item?.timeLeftMs).toBeLessThan(95_000);
    expect(item?.timeLeftMs).toBeGreaterThan(0);
  });

  it("silence approves only what can be undone, and only when the setting says so", async () => {
    const paths = testPaths();
    const clock = testClock();
    const yes = ask(paths, { timeoutMs: 1000, onTimeout: "approve" }, clock);
    const never = ask(paths, { timeoutMs: 1000, onTimeout: "approve", reversible: false }, clock);
    expect(await awaitAnswer(yes, waiting(paths, clock))).toMatchObject({ status: "expired", decision: "approve", by: "timeout" });
    expect(await awaitAnswer(never, waiting(paths, clock))).toMatchObject({ status: "expired", decision: "deny" });
  });

  it("time in which the process was stopped does not count as waiting", async () => {
    const paths = testPaths();
    const clock = testClock();
    const question = ask(paths, { timeoutMs: 60_000 }, clock);
    const stop = new AbortController();
    let steps = 0;
    await awaitAnswer(question, { ...waiting(paths, clock, stop.signal), pause: async () => {
      clock.advance(3_600_000);
      if (++steps === 3) stop.abort();
    } });
    expect((await readItem(paths, question.id))?.timeLeftMs).toBe(54_000);
  });

  it("an answer for another action counts as no", async () => {
    const paths = testPaths();
    const clock = testClock();
    const question = ask(paths, {}, clock);
    answerQuestion({ id: question.id, decision: "approve" }, answering(paths));
    expect(await awaitAnswer({ ...question, action_hash: "0".repeat(64) }, waiting(paths, clock))).toMatchObject({ decision: "deny", by: "policy" });
  });

  it("a withdrawn question cannot be answered, and an answer that was first stays", () => {
    const paths = testPaths();
    const [a, b] = [ask(paths), ask(paths)];
    expect(withdrawQuestion(a, "the session ended", answering(paths))).toMatchObject({ status: "withdrawn", text: "the session ended" });
    expect(() => answerQuestion({ id: a.id, decision: "approve" }, answering(paths))).toThrow("is already withdrawn");
    answerQuestion({ id: b.id, decision: "approve" }, answering(paths));
    expect(withdrawQuestion(b, "x", answering(paths))).toMatchObject({ status: "answered", decision: "approve" });
  });

  it("lists what waits first, and a file that is no question as a problem", async () => {
    const paths = testPaths();
    const clock = testClock();
    const ids = [1, 2, 3].map(() => {
      clock.advance(1000);
      return ask(paths, {}, clock).id;
    });
    answerQuestion({ id: ids[0] ?? "", decision: "deny" }, answering(paths));
    writeFileSync(join(paths.project.inbox, "00000000.json"), "{half");
    writeFileSync(join(paths.project.inbox, "notes.json"), "{}");
    const { items, problems } = await listInbox(paths);
    expect(items.map((item) => [item.question.id, item.status])).toEqual([[ids[1], "pending"], [ids[2], "pending"], [ids[0], "answered"]]);
    expect(problems.map((p) => p.path)).toEqual([join(paths.project.inbox, "00000000.json")]);
    expect(findQuestion(paths, ids[1]?.slice(0, 7) ?? "")).toBe(ids[1]);
    expect(() => findQuestion(paths, "zz")).toThrow("there is no question");
    expect((await listInbox(testPaths())).items).toEqual([]);
  });
});
