import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { chatMachine } from "../support/chat.ts";
import { repository } from "../support/cru.ts";
import { describeSandboxed } from "../support/sandbox.ts";

const SERVER = readFileSync(join(repository, "test/support/mcp-server.mjs"), "utf8");
const config = (command: string): string => `mcp:\n  servers:\n    sums:\n      command: ${command}\n      args: [tools/server.mjs, good]\n      permissions: [FilesystemRead]\n`;
const add = { name: "mcp__sums__add", input: { a: 2, b: 3 }, id: "m" };

describeSandboxed("MCP servers in a chat", () => {
  it("an agent of this process calls a configured server, and an untrusted project's servers never start", async () => {
    const script = { rules: [{ match: {}, by: "turn", replies: [{ tools: [add] }, { text: "five" }] }] } as Parameters<typeof chatMachine>[0];
    const user = await chatMachine(script, { home: { ".config/crucible/config.yaml": config(process.execPath) }, project: { "tools/server.mjs": SERVER } });
    const done = await user.chat(["add 2 and 3"]);
    expect({ code: done.code, stdout: done.stdout, stderr: done.stderr }).toMatchObject({ code: 0, stdout: "five\n" });
    expect(user.session().events.find((e) => e.type === "agent.tool_result" && e.call_id === "m")).toMatchObject({ ok: true, output: "5" });
    // A replay starts no server: its tools are those of the recording.
    const replayed = await user.cru(["sessions", "replay", user.session().id]);
    expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining("2 of 2 model calls the same")]);
    const clone = await chatMachine(script, { project: { ".crucible/config.yaml": config(process.execPath), "tools/server.mjs": SERVER } });
    await clone.chat(["add 2 and 3"]);
    expect(clone.requests[0]?.tools).not.toContain("mcp__sums__add");
    expect(clone.session().events.find((e) => e.type === "agent.tool_result" && e.call_id === "m")).toMatchObject({ ok: false });
  });
});
