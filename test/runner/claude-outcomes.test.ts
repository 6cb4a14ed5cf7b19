import { expect, it } from "vitest";
import { join } from "node:path";
import { done, ofType, runClaude, stage } from "../support/claude.ts";
import { describeClaude } from "../support/peers.ts";

const limits = { maxIterations: 50, timeoutMs: 60_000, idleMs: 30_000, budgetUsd: null };
const look = { tools: [{ name: "Bash", input: { command: "ls", description: "look" } }] };
const error = (status: number, headers: Record<string, string> = {}) => ({ error: { status, headers, message: "scripted trouble" } });

describeClaude("how runs of the real Claude CLI end", () => {
  it("[EXE-5.2.1] a request that is refused (400) is an API failure with the server's words", async () => {
    const { outcome } = await runClaude(() => error(400));
    expect(outcome).toMatchObject({ status: "failed", reason: "api_error", output: null });
    expect(outcome.error?.message).toContain("scripted trouble");
  });

  it("a login that is refused (401) is told at the first refusal", async () => {
    const run = await runClaude((_, call) => (call === 0 ? error(401) : { text: done() }), { setup: { maxRetries: 10 } });
    expect(run.outcome).toMatchObject({ status: "failed", reason: "auth", error: { message: expect.stringContaining("log in") as string } });
    expect(run.requests).toHaveLength(1);
  });

  it.each([
    ["retry-after", 429, "rate_limited", { "retry-after": "3600" }],
    ["the end of a usage limit", 429, "rate_limited", { "anthropic-ratelimit-unified-reset": String(Math.floor(Date.now() / 1000) + 3600) }],
    ["an overloaded server", 529, "overloaded", { "retry-after": "3600" }],
  ])("%s parks the run until then, without waiting for it", async (_, status, reason, headers) => {
    const { outcome } = await runClaude([error(status, headers)], { setup: { maxRetries: 10 } });
    expect(outcome).toMatchObject({ status: "blocked", reason });
    const wait = Date.parse(outcome.resetAt ?? "") - Date.now();
    expect(wait).toBeGreaterThan(3_500_000);
    expect(wait).toBeLessThanOrEqual(3_600_000);
  });

  it("an overload that lasts parks the run, one that passes is only a retry", async () => {
    const lasting = await runClaude([error(529), error(529), error(529)]);
    expect(lasting.outcome).toMatchObject({ status: "blocked", reason: "overloaded" });
    expect(Date.parse(lasting.outcome.resetAt ?? "")).toBeGreaterThan(Date.now());
    const passing = await runClaude([error(529), { text: done() }]);
    expect(passing.outcome.status).toBe("completed");
    expect(ofType(passing.events, "agent.retry")).toMatchObject([{ attempt: 1, reason: expect.stringContaining("529") as string }]);
  });

  it("a connection that breaks in every answer is an API failure", async () => {
    const { outcome } = await runClaude(() => ({ text: "half of it", fault: { kind: "cut", after_events: 4 } }));
    expect(outcome).toMatchObject({ status: "failed", reason: "api_error" });
  });

  it("the budget, the number of turns and a refusal are ends of their own", async () => {
    const budget = await runClaude([{ ...look, usage: { input: 1_000_000, output: 10 } }, { text: done() }], { request: { limits: { ...limits, budgetUsd: 0.5 } } });
    expect(budget.outcome).toMatchObject({ status: "blocked", reason: "budget" });
    expect(budget.outcome.costUsd).toBeGreaterThan(0.5);
    const turns = await runClaude([look, look, look, { text: done() }], { request: { limits: { ...limits, maxIterations: 2 } } });
    expect(turns.outcome).toMatchObject({ status: "partial", reason: "max_turns" });
    const refusal = await runClaude(() => ({ text: "I will not.", stop: "refusal" }));
    expect(refusal.outcome).toMatchObject({ status: "failed", reason: "refusal" });
  });

  it("[EXE-10.2.1] [EXE-10.2.2] [EXE-10.3.1] only the last json block of the final message counts, and without one the run has failed", async () => {
    const none = await runClaude([{ text: "All is done, believe me." }]);
    expect(none.outcome).toMatchObject({ status: "failed", reason: "invalid_output", output: null, text: "All is done, believe me." });
    const at = stage({ "trap.md": done("from a file") });
    const earlier = await runClaude([{ text: done("said too early"), tools: [{ name: "Read", input: { file_path: join(at.worktree, "trap.md") } }] }, { text: "The end." }], { at });
    expect(earlier.outcome).toMatchObject({ reason: "invalid_output", output: null });
    const two = await runClaude([{ text: `${done("first")}\n\n${done("second")}` }]);
    expect(two.outcome.output?.summary).toBe("second");
  });

  it("[EXE-5.2.1] an agent that reports that it could not do it has failed with its own words", async () => {
    const { outcome } = await runClaude([{ text: done("tried", { success: false, error: "the tests do not start" }) }]);
    expect(outcome).toMatchObject({ status: "failed", reason: "reported_failure", error: { message: "the tests do not start" }, output: { success: false } });
  });

  it("without a login nothing is started", async () => {
    const { outcome, requests } = await runClaude([{ text: done() }], { env: { ANTHROPIC_API_KEY: "" } });
    expect(outcome).toMatchObject({ status: "failed", reason: "auth" });
    expect(requests).toEqual([]);
  });
});
