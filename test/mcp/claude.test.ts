import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { agentFile } from "../support/agents.ts";
import { chatMachine } from "../support/chat.ts";
import { finish, repository } from "../support/cru.ts";
import { claudePath, describeClaude } from "../support/peers.ts";

describeClaude("a user's own Claude Code with cru mcp", () => {
  it("is the primary: it starts our agents under the same limits, and the session is ours", async () => {
    const spawn = { name: "mcp__crucible__spawn_agent", input: { agent: "helper", task: "count" }, id: "toolu_spawn" };
    const again = { name: "spawn_agent", input: { agent: "helper", task: "again" }, id: "again" };
    const box = await chatMachine(
      {
        rules: [
          { match: { system: "PROMPT-OF-helper" }, by: "turn", replies: [{ tools: [again] }, { text: "## Summary\n\nthree files" }] },
          { match: {}, by: "turn", replies: [{ tools: [spawn] }, { text: "The helper counted." }] },
        ],
      } as Parameters<typeof chatMachine>[0],
      { home: { ".config/crucible/agents/helper.md": agentFile("helper", {}, "PROMPT-OF-helper") } },
    );
    const config = join(box.home, "servers.json");
    writeFileSync(config, JSON.stringify({ mcpServers: { crucible: { command: process.execPath, args: [join(repository, "dist", "main.js"), "mcp"] } } }));
    const env = { PATH: process.env.PATH ?? "", HOME: box.home, CLAUDE_CONFIG_DIR: join(box.home, ".claude"), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", ...box.env };
    const done = await finish(claudePath, ["-p", "count the files", "--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__crucible"], { cwd: box.project, env });
    expect({ code: done.code, stdout: done.stdout.trim() }).toEqual({ code: 0, stdout: "The helper counted." });
    const { metadata, events } = box.session();
    expect(metadata).toMatchObject({ status: "completed", primary: { agent: "claude-code" }, trace: [{ agent: "claude-code", depth: 0 }, { agent: "helper", depth: 1, status: "completed", parent_chain: ["user", "claude-code", "helper"] }] });
    expect(events.find((e) => e.type === "agent.tool_result" && e.tool === "spawn_agent" && e.call_id === "again")).toMatchObject({ ok: false, output: expect.stringContaining("Maximum agent depth (2) exceeded") });
  });
});
