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
        { thinking: "first look", text: "I write.", tools: [{ name: "Write", input: { file_path: file, content: "from the agent\n" } }] },
        { tools: [{ name: "Bash", input: { command: "pwd; cat note.txt", description: "look" } }] },
        { text: done("wrote a note", { outputs: { files: ["note.txt"] } }), usage: { input: 100, output: 20, cache_read: 30, cache_write: 7 } },
      ],
      { at, request: { system: "GUIDANCE OF THE PROJECT", prompt: "Write the note." } },
    );
    expect(run.outcome).toMatchObject({ status: "completed", reason: "completed", output: { success: true, summary: "wrote a note", outputs: { files: ["note.txt"] } }, error: null });
    expect(readFileSync(file, "utf8")).toBe("from the agent\n");
    expect(ofType(run.events, "agent.tool_result").map((e) => [e.tool, e.ok])).toEqual([["Write", true], ["Bash", true]]);
    expect(ofType(run.events, "agent.tool_result")[1]?.output).toBe(`${at.worktree}\nfrom the agent`);
    expect(ofType(run.events, "agent.raw")).toEqual([]);
    expect(run.requests[0]?.system).toContain("GUIDANCE OF THE PROJECT");
    expect(run.requests.every((r) => r.key === KEY)).toBe(true);
    expect(existsSync(join(at.home, ".claude"))).toBe(false);
  });
});
