import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ofType } from "../support/claude.ts";
import { obedient, obey } from "../support/obedient.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { GRACE_MS } from "../../src/runner/agent-sandbox.ts";
import { answered } from "../support/loop.ts";

const limits = { maxIterations: 10, timeoutMs: 60_000, idleMs: 60_000, budgetUsd: null };
const long = process.env.CRU_TEST_LONG === "1";

describeSandboxed("an agent program that misbehaves", () => {
  it.each([
    ["exits with 0 and no result", "js:process.exit(0)", { status: "failed", reason: "no_result" }, "without a result"],
    ["exits with 1", "js:console.error('out of luck'); process.exit(1)", { status: "failed", reason: "crashed" }, "exit 1): out of luck"],
    ["dies of a segmentation fault", "js:process.kill(process.pid, 'SIGSEGV')", { status: "failed", reason: "crashed" }, "signal 11"],
    ["does not take our gates", "js:send({type:'control_response',response:{subtype:'error',request_id:'initialize',error:'no'}}); setInterval(() => {}, 1000)", { status: "failed", reason: "start_failed" }, "gates"],
    ["says an error result", "js:finish('API Error: 500 broken', {is_error: true, api_error_status: 500})", { status: "failed", reason: "api_error" }, "500 broken"],
  ])("[EXE-5.2.1] %s", async (_, order, outcome, message) => {
    const run = await obey(order);
    expect(run.outcome).toMatchObject(outcome);
    expect(run.outcome.error?.message).toContain(message);
  });

  it("[EXE-4.3.1] a silent hang and one that only turns a spinner are ended by the idle time, with the reason", async () => {
    const idle = { request: { limits: { ...limits, idleMs: 700 } } };
    const silent = await obey("js:setInterval(() => {}, 1000)", idle);
    const spinner = await obey(String.raw`js:setInterval(() => { process.stdout.write('\r|\n'); process.stderr.write('.'); send({type:'keep_alive'}) }, 20)`, idle);
    for (const run of [silent, spinner]) expect(run.outcome).toMatchObject({ status: "timeout", reason: "idle", error: { message: expect.stringContaining("timeout") as string } });
    expect(ofType(spinner.events, "agent.stderr").length).toBeGreaterThan(0);
  });

  it("an agent that closes its output and lives is ended: at once where that can be seen, else by the idle time", async () => {
    const order = "js:(await import('node:fs')).closeSync(1); setInterval(() => {}, 1000)";
    const plain = await obey(order, { setup: { claude: { command: obedient, args: [] }, sandbox: { mode: "off", hosts: [] } } });
    expect(plain.outcome).toMatchObject({ status: "failed", reason: "crashed" });
    expect((await obey(order, { request: { limits: { ...limits, idleMs: 700 } } })).outcome).toMatchObject({ status: "timeout", reason: "idle" });
  });

  it("an agent that gets on is not idle, but its whole time is limited; waiting for a person counts to neither", async () => {
    const works = "js:for (let i = 0; i < 12; i++) { say('step ' + i); await new Promise((r) => setTimeout(r, 100)); } finish('done')";
    expect((await obey(works, { request: { limits: { ...limits, idleMs: 600 } } })).outcome.status).toBe("completed");
    expect((await obey(works, { request: { limits: { ...limits, timeoutMs: 600 } } })).outcome).toMatchObject({ status: "timeout", reason: "time" });
    const asks = "js:send({type:'control_request',request_id:'r1',request:{subtype:'can_use_tool',tool_name:'Bash',input:{command:'ls'}}}); const a = await heard(); await heard(); finish(JSON.stringify(a))";
    const slow = await obey(asks.replace("const a = await heard(); await heard();", "let a; do a = await heard(); while (a.response.request_id !== 'r1');"), {
      request: { requiresApproval: ["Bash"], limits: { ...limits, idleMs: 400, timeoutMs: 2000 } },
      answer: () => new Promise((resolve) => void setTimeout(() => resolve(answered("", "approve")), 2500)),
    });
    expect(slow.outcome.status).toBe("completed");
    expect(slow.outcome.text).toContain('"behavior":"allow"');
  });

  it("a question that the agent takes back is withdrawn, and one of an unknown kind is refused instead of left open", async () => {
    let withdrawn = false;
    const order = `js:send({type:'control_request',request_id:'r1',request:{subtype:'can_use_tool',tool_name:'Bash',input:{command:'ls'}}});
      setTimeout(() => send({type:'control_cancel_request',request_id:'r1'}), 100);
      setTimeout(() => send({type:'control_request',request_id:'r2',request:{subtype:'dance'}}), 200);
      let a; do a = await heard(); while (a.response.request_id !== 'r2'); finish(JSON.stringify(a))`;
    const run = await obey(order, {
      request: { requiresApproval: ["Bash"] },
      answer: (question) =>
        new Promise((resolve) => {
          question.signal?.addEventListener("abort", () => {
            withdrawn = true;
            const asked = answered("", "deny");
            if (asked.kind === "answered") asked.answer.status = "withdrawn";
            resolve(asked);
          });
        }),
    });
    expect(withdrawn).toBe(true);
    expect(run.outcome.text).toContain("not supported: dance");
    expect(run.outcome).toMatchObject({ status: "completed", denials: [] });
  });

  it("bytes that are no text, NUL and lines of no known type are in the record", async () => {
    const run = await obey(String.raw`js:process.stdout.write(Buffer.from([0x80, 0xff, 0, 0x41, 10])); send({type: 'brand_new', x: 1}); process.stdout.write('{"type":broken\n'); finish('done')`);
    expect(ofType(run.events, "agent.raw").map((e) => e.text)).toEqual(["\ufffd\ufffd\0A", '{"type":"brand_new","x":1}', '{"type":broken']);
    expect(run.outcome).toMatchObject({ status: "completed", text: "done" });
  });

  it("a line of 100 MB and much output stay within bounded memory, and the record says what was cut", async () => {
    const lines = long ? 1024 * 16 : 1024;
    const order = `js:const block = Buffer.alloc(1 << 20, 'x'); const write = (b) => new Promise((r) => process.stdout.write(b, r));
      for (let i = 0; i < 100; i++) await write(block); await write('\\n');
      const line = JSON.stringify({type:'assistant',message:{content:[{type:'text',text:'y'.repeat(65536)}]}}) + '\\n';
      for (let i = 0; i < ${lines}; i++) await write(line); finish('done')`;
    let [bytes, peak] = [0, 0];
    const before = process.memoryUsage().rss;
    const run = await obey(order, {
      onEvent: (event) => {
        if (event.type === "agent.output") {
          bytes += event.text.length;
          event.text = "";
        }
        peak = Math.max(peak, process.memoryUsage().rss);
      },
    });
    expect(run.outcome.status).toBe("completed");
    expect(bytes).toBe(lines * 65536);
    expect(ofType(run.events, "agent.raw").map((e) => [e.text.length < 70_000, e.text.endsWith(`[… ${100 * (1 << 20) - (64 << 10)} bytes cut …]`)])).toEqual([[true, true]]);
    expect(peak - before).toBeLessThan(150 << 20);
  });

  it("[EXE-4.1.1] SIGTERM comes first, and the agent may end its work", async () => {
    const stop = new AbortController();
    const order = "js:process.on('SIGTERM', () => { finish('partial work kept'); process.exit(143) }); say('ready'); setInterval(() => {}, 1000)";
    const run = await obey(order, { signal: stop.signal, onEvent: (e) => void (e.type === "agent.output" && stop.abort()) });
    expect(run.outcome).toMatchObject({ status: "cancelled", text: "partial work kept" });
  });

  it("[EXE-4.1.2] [EXE-4.2.1] [EXE-4.2.2] an agent that ignores SIGTERM is killed when its grace is over; its files stay", async () => {
    expect(GRACE_MS).toBe(10_000);
    const stop = new AbortController();
    const order = "js:(await import('node:fs')).writeFileSync('partial.txt', 'half'); process.on('SIGTERM', () => say('no')); say('ready'); setInterval(() => {}, 1000)";
    const run = await obey(order, { setup: { claude: { command: obedient, args: [] }, graceMs: 500 }, signal: stop.signal, onEvent: (e) => void (e.type === "agent.output" && stop.abort()) });
    expect(run.outcome.status).toBe("cancelled");
    expect(ofType(run.events, "agent.output").map((e) => e.text)).toEqual(["ready", "no"]);
    expect(readFileSync(join(run.at.worktree, "partial.txt"), "utf8")).toBe("half");
  });
});
