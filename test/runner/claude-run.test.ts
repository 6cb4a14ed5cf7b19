import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { done, KEY, ofType, runClaude, stage } from "../support/claude.ts";
import { describeClaude } from "../support/peers.ts";

describeClaude("the real Claude CLI in the sandbox", () => {
  it("[EXE-1.2.1] [EXE-2.1.1] [EXE-5.1.1] works in the worktree, streams what it does and completes with its output", async () => {
    const at = stage();
    const file = join(at.worktree, "note.txt");
    const run = await runClaude(
      [
        { thinking: "first look", text: "I write.", tools: [{ name: "Write", input: { file_path: file, content: "from the agent\n" } }], usage: { input: 200, output: 30 } },
        { tools: [{ name: "Bash", input: { command: "pwd; cat note.txt", description: "look" } }], usage: { input: 5, output: 10, cache_read: 200, cache_write: 50 } },
        { text: done("wrote a note", { outputs: { files: ["note.txt"] } }), usage: { input: 100, output: 20, cache_read: 30, cache_write: 7 } },
      ],
      { at, request: { system: "GUIDANCE OF THE PROJECT", prompt: "Write the note." } },
    );
    expect(run.outcome).toMatchObject({ status: "completed", reason: "completed", output: { success: true, summary: "wrote a note", outputs: { files: ["note.txt"] } }, error: null });
    expect(readFileSync(file, "utf8")).toBe("from the agent\n");
    expect(ofType(run.events, "agent.tool_result").map((e) => [e.tool, e.ok])).toEqual([["Write", true], ["Bash", true]]);
    expect(ofType(run.events, "agent.tool_result")[1]?.output).toBe(`${at.worktree}\nfrom the agent`);
    expect(ofType(run.events, "agent.thinking").map((e) => e.content)).toEqual(["first look"]);
    expect(ofType(run.events, "agent.output").map((e) => e.text.slice(0, 9))).toEqual(["I write.", "Finished."]);
    expect(ofType(run.events, "agent.raw")).toEqual([]);
    expect(run.outcome).toMatchObject({ tokens: { input: 200 + 255 + 137, output: 60, cache_read: 230, cache_write: 57 }, costEstimated: false });
    expect(ofType(run.events, "agent.usage")).toMatchObject([{ tokens: run.outcome.tokens, cost_usd: run.outcome.costUsd, estimated: false }]);
    expect(run.outcome.costUsd).toBeGreaterThan(0);
    expect(ofType(run.events, "agent.process")).toMatchObject([{ runner: "claude", version: "2.1.325", resumed: false, sandboxed: true }]);
    expect(run.requests[0]?.system).toContain("GUIDANCE OF THE PROJECT");
    expect(run.requests.every((r) => r.key === KEY)).toBe(true);
    expect(existsSync(join(at.home, ".claude"))).toBe(false);
  });

  it("[EXE-2.2.1] [EXE-2.2.2] what it is doing shows while it does it: thinking, writing, running a command, and that it is over", async () => {
    const at = stage();
    const seen: string[] = [];
    const { outcome } = await runClaude(
      [
        { thinking: "hm", tools: [{ name: "Write", input: { file_path: join(at.worktree, "a.txt"), content: "a" } }] },
        { tools: [{ name: "Bash", input: { command: "true", description: "run" } }] },
        { text: done() },
      ],
      { at, onEvent: (event) => void (event.type === "agent.status" ? seen.push(event.status) : event.type === "agent.tool_result" ? seen.push(`${event.tool} ended`) : 0) },
    );
    expect(seen).toEqual(["thinking", "writing", "Write ended", "thinking", "running_command", "Bash ended", "thinking", "writing", "idle"]);
    expect(outcome.status).toBe("completed");
  });

  it("a resumed run counts only what it used itself", async () => {
    const at = stage();
    const script = () => ({ text: done(), usage: { input: 1000, output: 100 } });
    const first = await runClaude(script, { at });
    const second = await runClaude(script, { at, request: { resume: true } });
    expect(ofType(second.events, "agent.process")).toMatchObject([{ resumed: true }]);
    expect([first.outcome.tokens, second.outcome.tokens]).toMatchObject([{ input: 1000, output: 100 }, { input: 1000, output: 100 }]);
    expect(second.outcome.costUsd).toBeCloseTo(first.outcome.costUsd ?? 0, 6);
  });

  it("a conversation that grew too long is compacted, and that is told", async () => {
    const run = await runClaude([
      { tools: [{ name: "Bash", input: { command: "ls", description: "look" } }] },
      { error: { status: 400, type: "invalid_request_error", message: "prompt is too long: 250000 tokens > 200000 maximum" } },
      { text: "<summary>what was done</summary>" },
      { text: done() },
    ]);
    expect(ofType(run.events, "agent.compacted")).toHaveLength(1);
    expect(run.outcome.status).toBe("completed");
  });
});
