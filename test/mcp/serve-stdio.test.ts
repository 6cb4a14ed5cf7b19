import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { TOOL_NAMES } from "../../src/contract/tool-names.ts";
import { agentFile } from "../support/agents.ts";
import { chatMachine } from "../support/chat.ts";
import { machine, repository } from "../support/cru.ts";
import { processesWith } from "../support/mcp.ts";
import { cruMcp } from "../support/mcp-client.ts";
import { isAlive, until } from "../support/processes.ts";
import { describeSandboxed } from "../support/sandbox.ts";

type Script = Parameters<typeof chatMachine>[0];
const helper = (lines: Record<string, string> = {}): Record<string, string> => ({ ".config/crucible/agents/helper.md": agentFile("helper", lines, "PROMPT-OF-helper") });
const child = (...replies: unknown[]): Script => ({ rules: [{ match: { system: "PROMPT-OF-helper" }, by: "turn", replies }] }) as Script;
const folder = (box: { project: string }): string => join(box.project, ".crucible", "sessions");

describe("cru mcp", () => {
  it.each([false, true])("offers the tools of a primary and opens no session for it (modern protocol: %s)", async (modern) => {
    const box = machine();
    const mcp = await cruMcp(box, { modern });
    // Plan and reflection belong to a loop, and that runs elsewhere.
    expect((await mcp.names()).toSorted()).toEqual(TOOL_NAMES.filter((name) => name !== "update_plan" && name !== "reflect").toSorted());
    await mcp.close();
    expect(existsSync(folder(box))).toBe(false);
  });

  it("a call is recorded in a session of its own, which ends with the client", async () => {
    const box = await chatMachine({ rules: [] }, { project: { "notes/a.md": "# Release\nHow to undo a release.\n" } });
    const mcp = await cruMcp(box);
    expect(await mcp.call("write_file", { path: "b.txt", content: "x" })).toEqual({ ok: true, text: "created b.txt (1 bytes)" });
    expect(await mcp.call("read_note", { path: "notes/a.md" })).toMatchObject({ ok: true, text: expect.stringContaining("undo a release") });
    expect(mcp.stderr()).toContain(`session ${box.sessions()[0] ?? "?"}`);
    await mcp.close();
    await until(() => !isAlive(mcp.pid));
    expect(box.sessions()).toHaveLength(1);
    const { metadata, events } = box.session();
    expect(metadata).toMatchObject({ status: "completed", owner: null, primary: { agent: "test-client", model: "external" }, trace: [{ agent: "test-client", depth: 0, status: "completed", cost_usd: null }] });
    expect(events.flatMap((e) => (e.type === "agent.tool_result" ? [[e.tool, e.ok]] : []))).toEqual([["write_file", true], ["read_note", true]]);
    const resumed = await box.chat(["--resume", box.session().id, "go on"]);
    expect([resumed.code, resumed.stderr]).toEqual([2, expect.stringContaining("was a client of `cru mcp`")]);
    expect(box.session().metadata.status).toBe("completed");
  });

  it("spawn_agent starts a child below the client: its rights are no wider, its result and trace are kept, and it starts nobody", async () => {
    const again = { name: "spawn_agent", input: { agent: "helper", task: "again" }, id: "again" };
    const box = await chatMachine(child({ tools: [again] }, { text: "## Summary\n\nthree files" }), { home: helper({ permissions: "[FilesystemRead, Shell, NetworkAccess]" }) });
    const mcp = await cruMcp(box, { env: box.env, args: ["--deny", "Shell"] });
    const spawned = await mcp.call("spawn_agent", { agent: "helper", task: "count the files" });
    expect(spawned).toMatchObject({ ok: true, text: expect.stringContaining("three files") });
    await mcp.close();
    await until(() => !isAlive(mcp.pid));
    const { metadata, events, child: result } = box.session();
    expect(events.find((e) => e.type === "agent.tool_result" && e.call_id === "again")).toMatchObject({ ok: false, output: expect.stringContaining("Maximum agent depth (2) exceeded") });
    expect(metadata.trace.map((t) => [t.agent, t.depth, t.parent_chain])).toEqual([["test-client", 0, ["user", "test-client"]], ["helper", 1, ["user", "test-client", "helper"]]]);
    expect(metadata.permissions[1]?.granted).toEqual(["FilesystemRead", "SemanticSearch", "NetworkAccess"]);
    expect(result("helper").body).toContain("three files");
    expect(JSON.parse((await box.cru(["sessions", "trace", box.session().id, "--json"])).stdout)).toMatchObject({ root: { agent: "test-client", children: [{ agent: "helper", status: "completed" }] } });
  });

  it("refuses in the words of a chat: rights, unknown agents, unknown tools, wrong input, no provider", async () => {
    const box = machine({ home: helper() });
    const mcp = await cruMcp(box, { args: ["--deny", "Shell,FilesystemWrite"] });
    expect(await mcp.names()).not.toContain("run_command");
    expect(await mcp.call("run_command", { command: "ls" })).toMatchObject({ ok: false, text: expect.stringContaining('there is no tool "run_command"') });
    expect(await mcp.call("read_file", { path: 7 })).toMatchObject({ ok: false, text: expect.stringContaining("invalid input for read_file: path") });
    expect(await mcp.call("get_agent", { name: "nobody" })).toMatchObject({ ok: false, text: expect.stringContaining("agent not found") });
    expect(await mcp.call("spawn_agent", { agent: "helper", task: "t", permissions: ["Shell"] })).toMatchObject({ ok: false, text: expect.stringContaining("cannot spawn helper: permission 'Shell' exceeds the parent's") });
    expect(await mcp.call("spawn_agent", { agent: "helper", task: "t" })).toMatchObject({ ok: false, text: expect.stringContaining("ANTHROPIC_API_KEY is not set") });
    expect(await mcp.call("read_file", { path: "../outside" })).toMatchObject({ ok: false });
  });

  it("an agent's definition can be the ceiling, and must be trusted", async () => {
    const box = machine({ home: helper({ requires_approval: "[read_file]" }), project: { ".crucible/agents/ours.md": agentFile("ours") } });
    const mcp = await cruMcp(box, { args: ["--agent", "helper"] });
    expect(await mcp.names()).toEqual(expect.not.arrayContaining(["write_file", "run_command", "fetch_url"]));
    expect(mcp.stderr()).toContain("not trusted, so not used");
    expect(await mcp.call("get_agent", { name: "ours" })).toMatchObject({ ok: false, text: expect.stringContaining("agent not found") });
    const refused = await box.cru(["mcp", "--agent", "ours"]);
    expect([refused.code, refused.stdout]).toEqual([4, ""]);
  });

  it("what must be asked waits in the inbox; the client hears of it, and the answer of another process counts", async () => {
    const box = await chatMachine({ rules: [] });
    const mcp = await cruMcp(box);
    const heard: string[] = [];
    const ask = async (content: string, answer: string): Promise<{ ok: boolean; text: string }> => {
      const before = heard.length;
      const writing = mcp.call("write_file", { path: ".mcp.json", content }, { onprogress: ({ message = "" }) => void heard.push(message) });
      await until(() => heard.length > before && (heard.at(-1) ?? "").startsWith("a person is needed"));
      const id = /show (\S+)/.exec(heard.at(-1) ?? "")?.[1] ?? "";
      expect((await box.cru(["inbox", answer, id])).code).toBe(0);
      return writing;
    };
    expect(await ask("{}", "deny")).toEqual({ ok: false, text: "denied: the user said no" });
    expect(existsSync(join(box.project, ".mcp.json"))).toBe(false);
    expect(await ask("{ }", "approve")).toMatchObject({ ok: true });
    expect(readFileSync(join(box.project, ".mcp.json"), "utf8")).toBe("{ }");
  });

  it("a call that the client gives up takes its question along, and the server goes on", async () => {
    const box = await chatMachine({ rules: [] });
    const mcp = await cruMcp(box);
    const gone = new AbortController();
    const asking = mcp.call("ask_user", { question: "Which one?" }, { signal: gone.signal }).catch(() => "given up");
    const waiting = async (): Promise<number> => (JSON.parse((await box.cru(["inbox", "list", "--json"])).stdout) as { items: { status: string }[] }).items.filter((item) => item.status === "pending").length;
    while ((await waiting()) === 0);
    gone.abort();
    expect(await asking).toBe("given up");
    while ((await waiting()) > 0);
    expect((await mcp.call("list_files", { pattern: "*" })).ok).toBe(true);
  });

  it("results that are too long are cut in the middle", async () => {
    const box = machine({ home: { ".config/crucible/agents/long.md": agentFile("long", {}, `first ${"word ".repeat(40_000)}last`) } });
    const { text } = await (await cruMcp(box)).call("get_agent", { name: "long" });
    expect(text.length).toBeLessThan(61_000);
    expect(text).toMatch(/characters left out[^]*last/);
  });

  it("stdout carries the protocol only, garbage on stdin does no harm, and it ends with stdin", async () => {
    const box = machine({ project: { ".crucible/config.yaml": "model: opus\n" } });
    const start = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } } };
    const done = await box.cru(["mcp"], { input: `nonsense\n{"jsonrpc":"2.0"}\n${JSON.stringify(start)}\n` });
    expect(done.code).toBe(0);
    for (const line of done.stdout.trimEnd().split("\n").filter((l) => l !== "")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    expect(done.stderr).toContain("not trusted");
  });
});

describeSandboxed("cru mcp with commands", () => {
  it("calls run at the same time", async () => {
    const box = machine();
    const mcp = await cruMcp(box);
    const wait = (mine: string, other: string): string => `touch ${mine}; while [ ! -e ${other} ]; do sleep 0.02; done; echo met`;
    const both = await Promise.all([mcp.call("run_command", { command: wait("a", "b") }), mcp.call("run_command", { command: wait("b", "a") })]);
    expect(both).toEqual([{ ok: true, text: "met\n[exit code 0]" }, { ok: true, text: "met\n[exit code 0]" }]);
  });

  it("a client that is killed in the middle of a call leaves no process and a session that says so", async () => {
    const box = await chatMachine({ rules: [] });
    const word = `left-${process.pid}-${Date.now()}`;
    const client = join(box.home, "client.mjs");
    const messages = [
      { id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } } },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/call", params: { name: "run_command", arguments: { command: `sh -c 'while :; do sleep 0.1; done' ${word} & touch started; wait` } } },
    ];
    writeFileSync(client, `
      import { spawn } from "node:child_process";
      const server = spawn(process.execPath, ${JSON.stringify([join(repository, "dist/main.js"), "mcp"])}, { stdio: ["pipe", "ignore", "ignore"] });
      for (const m of ${JSON.stringify(messages)}) server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...m }) + "\\n");
      process.stdout.write(String(server.pid));
    `);
    const running = spawn(process.execPath, [client], { cwd: box.project, env: { PATH: process.env.PATH, HOME: box.home } });
    let pid = "";
    running.stdout.on("data", (chunk: Buffer) => (pid += chunk.toString("utf8")));
    await until(() => existsSync(join(box.project, "started")) && processesWith(word).length > 0);
    running.kill("SIGKILL");
    await until(() => !isAlive(Number(pid)) && processesWith(word).length === 0);
    expect(box.session().metadata).toMatchObject({ status: "interrupted", owner: null });
  });
});
