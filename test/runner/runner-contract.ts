import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventSchema } from "../../src/contract/event.ts";
import type { NewEvent } from "../../src/contract/event.ts";
import type { AskInput, Outcome, RunRequest } from "../../src/contract/runner.ts";
import type { Script, ScriptedReply } from "../../src/scripted/script.ts";
import { done, ofType, type Stage, stage } from "../support/claude.ts";
import { answered } from "../support/loop.ts";

export type ContractRun = { outcome: Outcome; events: NewEvent[]; asked: AskInput[] };

/** What a kind of runner must bring so that it can be held to the contract: how it is run on a scripted model, and what its tools are called. */
export type RunnerUnderTest = {
  run(script: Script, options: { at: Stage; request?: Partial<RunRequest>; answer?: (question: AskInput) => Promise<ReturnType<typeof answered>>; signal?: AbortSignal; onEvent?: (event: NewEvent) => void }): Promise<ContractRun>;
  write(path: string, content: string): ScriptedReply;
  command(command: string): ScriptedReply;
};

/** Every runner behaves like this, whatever program is behind it. */
export function runnerContract({ run, write, command }: RunnerUnderTest): void {
  it("works in its workspace and completes with the agent's output", async () => {
    const at = stage();
    const { outcome, events } = await run([write(join(at.worktree, "made.txt"), "made\n"), { text: done("made it") }], { at });
    expect(readFileSync(join(at.worktree, "made.txt"), "utf8")).toBe("made\n");
    expect(outcome).toMatchObject({ status: "completed", error: null, output: { success: true, summary: "made it" } });
    expect(outcome.tokens.input).toBeGreaterThan(0);
    expect(ofType(events, "agent.tool_call").map((e) => e.call_id)).toEqual(ofType(events, "agent.tool_result").map((e) => e.call_id));
    expect(ofType(events, "agent.output").at(-1)?.text).toContain("Finished.");
  });

  it("speaks only in events of the one union, each under its span", async () => {
    const { events } = await run([command("echo hello"), { text: done() }], { at: stage() });
    for (const event of events) {
      expect(eventSchema.safeParse({ v: 1, ts: "2026-11-16T00:00:00.000Z", seq: 0, trace_id: "t", ...event }).error).toBeUndefined();
      expect(event).toHaveProperty("span_id");
    }
  });

  it("an agent without the right to write cannot, and one that must ask asks", async () => {
    const at = stage();
    const readOnly = await run([write(join(at.worktree, "no.txt"), "x"), { text: done("x", { success: false, error: "cannot write" }) }], { at, request: { permissions: ["FilesystemRead", "SemanticSearch"] } });
    expect(existsSync(join(at.worktree, "no.txt"))).toBe(false);
    expect(readOnly.outcome.status).not.toBe("completed");
    const asking = await run([command("echo yes > yes.txt"), { text: done() }], { at, request: { requiresApproval: ["Shell"] }, answer: async () => answered("", "approve") });
    expect(asking.asked).toHaveLength(1);
    expect(readFileSync(join(at.worktree, "yes.txt"), "utf8")).toBe("yes\n");
  });

  it("a model that cannot be used is an outcome, not an exception", async () => {
    const { outcome } = await run(() => ({ error: { status: 400, message: "scripted trouble" } }), { at: stage() });
    expect(outcome).toMatchObject({ status: "failed", output: null });
    expect(outcome.error?.message).toContain("scripted trouble");
  });

  it("ends soon after it is told to, and says that it was", async () => {
    const stop = new AbortController();
    const { outcome } = await run([{ text: "thinking about it", ...command("sleep 0.2; sleep 100") }], { at: stage(), signal: stop.signal, onEvent: (event) => void (event.type === "agent.tool_call" && stop.abort()) });
    expect(outcome.status).toBe("cancelled");
  });
}
