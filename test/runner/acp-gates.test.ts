import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ofType, stage } from "../support/claude.ts";
import { answered } from "../support/loop.ts";
import { processesNaming } from "../support/processes.ts";
import { quirk } from "../support/quirky.ts";
import { describeSandboxed } from "../support/sandbox.ts";

const ALL = ["FilesystemRead", "FilesystemWrite", "SemanticSearch", "NetworkAccess", "Shell"] as const;
const fetching = (url: string) => `await permission({ kind: 'fetch', title: 'Fetch', rawInput: { url: '${url}' } })`;

describeSandboxed("gates of an ACP agent", () => {
  it("by the kind of the tool: what the rights allow is allowed, what they do not is refused, and nobody is asked", async () => {
    const code = "const said = {}; for (const kind of ['read','search','edit','delete','move','execute','fetch','think','switch_mode']) said[kind] = await permission({ kind, rawInput: { a: 1 } }); finish(JSON.stringify(said))";
    const worker = await quirk(code);
    const yes = { read: "fine", search: "fine", edit: "fine", delete: "fine", move: "fine", execute: "fine", think: "fine" };
    expect(JSON.parse(worker.outcome.output?.summary ?? "")).toEqual({ ...yes, fetch: "nope", switch_mode: "nope" });
    const reader = await quirk(code, { request: { permissions: ["FilesystemRead", "SemanticSearch"] } });
    expect(JSON.parse(reader.outcome.output?.summary ?? "")).toEqual({ read: "fine", search: "fine", think: "fine", edit: "nope", delete: "nope", move: "nope", execute: "nope", fetch: "nope", switch_mode: "nope" });
    expect(reader.outcome.denials).toContainEqual({ action: 'execute: {"a":1}', reason: "this agent does not have the right Shell" });
    expect([...worker.asked, ...reader.asked]).toEqual([]);
  });

  it("options are chosen by kind, once rather than always; without a fitting one the call is cancelled", async () => {
    const code = `const only = (kind) => permission({ kind: 'edit' }, [{ optionId: 'x-' + kind, kind, name: '' }]); const no = (kind) => permission({ kind: 'fetch' }, [{ optionId: 'x-' + kind, kind, name: '' }]);
      finish([await only('allow_always'), await only('reject_once'), await no('reject_always'), await no('allow_once')].join())`;
    expect((await quirk(code)).outcome.output?.summary).toBe("x-allow_always,cancelled,x-reject_always,cancelled");
  });

  it("[EXE-3.3.1] what is allowed but gated becomes a permission item with Allow, Deny and Allow All; the word goes back", async () => {
    const answers: Record<string, ReturnType<typeof answered>> = { a: answered("Allow"), b: answered("", "approve"), c: answered("not there", "deny"), d: answered("Deny") };
    const run = await quirk(`const said = []; for (const name of ['a','b','c','d']) said.push(await permission({ kind: 'fetch', title: 'Fetch', rawInput: { url: 'https://' + name } })); finish(said.join())`, {
      request: { permissions: ALL }, answer: async (q) => answers[q.title.slice(-1)] ?? answered(""),
    });
    expect(run.asked.map((q) => [q.kind, q.title, q.options])).toEqual(["a", "b", "c", "d"].map((name) => ["permission", `fetch: https://${name}`, ["Allow", "Deny", "Allow All"]]));
    expect(run.outcome.output?.summary).toBe("fine,fine,nope,nope");
    expect(run.outcome.denials).toEqual([{ action: "fetch: https://c", reason: "not there" }, { action: "fetch: https://d", reason: "the user said no" }]);
    expect(ofType(run.events, "agent.status").map((e) => e.status)).toContain("waiting");
  });

  it("Allow All holds for that tool and this process only", async () => {
    const at = stage();
    const options = { at, request: { permissions: ALL }, answer: async () => answered("Allow All", "approve") };
    const code = `const said = [${fetching("https://a")}, ${fetching("https://b")}, await permission({ kind: 'other', title: 'Odd', rawInput: { x: 1 } })]; finish(said.join())`;
    const run = await quirk(code, options);
    expect(run.asked.map((q) => q.title)).toEqual(["fetch: https://a", 'other: {"x":1}']);
    expect(run.outcome.output?.summary).toBe("fine,fine,fine");
    expect((await quirk(code, options)).asked).toHaveLength(2);
  });

  it("a call that a person changed is refused, because the protocol cannot change it", async () => {
    const run = await quirk(`finish(${fetching("https://a")})`, {
      request: { permissions: ALL },
      answer: async () => {
        const asked = answered("", "approve");
        if (asked.kind === "answered") asked.answer.set = { url: "https://b" };
        return asked;
      },
    });
    expect(run.outcome.output?.summary).toBe("nope");
    expect(run.outcome.denials[0]?.reason).toContain("https://b");
  });

  it("MCP tools need the rights of their server; a server that we did not give is asked about", async () => {
    const code = `finish([await permission({ kind: 'other', name: 'mcp__lab__x' }), await permission({ kind: 'other', name: 'mcp__all__x' }), await permission({ kind: 'other', name: 'mcp__odd__x' })].join())`;
    const mcpServers = { lab: { command: "lab", permissions: ["FilesystemRead" as const] }, all: { command: "all" } };
    const run = await quirk(code, { request: { mcpServers }, answer: async () => answered("Allow") });
    expect(run.outcome.output?.summary).toBe("fine,nope,fine");
    expect(run.asked.map((q) => q.title)).toEqual(["mcp__odd__x: "]);
  });

  it("an agent that cannot be made to ask is refused where asking is required; the others run", async () => {
    const refused = await quirk("note('began'); finish()", { request: { requiresApproval: ["Shell"] } });
    expect(refused.outcome).toMatchObject({ status: "failed", reason: "start_failed" });
    expect(refused.outcome.error?.message).toContain("requires_approval");
    expect(existsSync(join(refused.at.worktree, "notes.txt"))).toBe(false);
    expect((await quirk("finish()", { request: { requiresApproval: ["NetworkAccess", "spawn_agent"] } })).outcome.status).toBe("completed");
  });

  it("an agent that runs commands without the right is stopped as soon as it says so", async () => {
    const ran = await quirk("update('tool_call', { toolCallId: 'c1', kind: 'execute', title: 'ls', status: 'in_progress', rawInput: { command: 'ls' } }); await forever()", {
      request: { permissions: ["FilesystemRead", "SemanticSearch"] },
    });
    expect(ran.outcome).toMatchObject({ status: "failed", error: { message: expect.stringContaining("does not have the right Shell") as string } });
  });

  it("one that says it ran what was refused is told on", async () => {
    const run = await quirk("await permission({ toolCallId: 'c9', kind: 'fetch', title: 'Fetch it' }); update('tool_call_update', { toolCallId: 'c9', status: 'completed' }); finish()");
    expect(ofType(run.events, "warning").map((e) => e.message)).toEqual(["the agent says that it ran what was refused: fetch: Fetch it"]);
  });

  it("without a sandbox every command and every path outside asks, and nothing of the agent is left", async () => {
    const at = stage();
    const code = `const said = [await permission({ kind: 'execute', rawInput: { command: 'ls' } }), await permission({ kind: 'edit', locations: [{ path: '${at.worktree}/x' }] }), await permission({ kind: 'edit', rawInput: { path: '${at.home}/x' } })];
      (await import('node:child_process')).spawn('sleep', ['4323'], { detached: true, stdio: 'ignore' }).unref(); finish(said.join())`;
    const run = await quirk(code, { at, setup: { sandbox: { mode: "off", hosts: [] } }, answer: async () => answered("Allow") });
    expect(run.outcome.output?.summary).toBe("fine,fine,fine");
    expect(run.asked.map((q) => [q.title, q.reversible])).toEqual([["execute: ls", false], [`edit: ${at.home}/x`, false]]);
    expect(ofType(run.events, "agent.process")).toMatchObject([{ sandboxed: false }]);
    expect(processesNaming("4323")).toEqual([]);
  });

  it("where the user vouches for the surroundings, only protected paths ask", async () => {
    const at = stage();
    const code = `const said = [await permission({ kind: 'execute', rawInput: { command: 'ls' } }), await permission({ kind: 'edit', rawInput: { path: '${at.home}/x' } }), await permission({ kind: 'edit', rawInput: { path: '${at.worktree}/.git/config' } })]; finish(said.join())`;
    const run = await quirk(code, { at, setup: { sandbox: { mode: "external", hosts: [] } }, answer: async () => answered("Allow") });
    expect(run.outcome.output?.summary).toBe("fine,fine,fine");
    expect(run.asked.map((q) => [q.title, q.reversible])).toEqual([[`edit: ${at.worktree}/.git/config`, true]]);
  });

  it("a permission request that the agent takes back is withdrawn", async () => {
    let withdrawn = false;
    const run = await quirk("const p = ask('session/request_permission', { toolCall: { toolCallId: 'c1', kind: 'fetch' }, options: [] }, 'p1'); send({ method: '$/cancel_request', params: { requestId: 'p1' } }); finish((await p).result.outcome.outcome)", {
      request: { permissions: ALL },
      answer: (question) =>
        new Promise((resolve) => {
          const withdraw = (): void => {
            withdrawn = true;
            const asked = answered("", "deny");
            if (asked.kind === "answered") asked.answer.status = "withdrawn";
            resolve(asked);
          };
          if (question.signal?.aborted === true) withdraw();
          else question.signal?.addEventListener("abort", withdraw);
        }),
    });
    expect([withdrawn, run.outcome.output?.summary, run.outcome.denials]).toEqual([true, "cancelled", []]);
  });
});

describeSandboxed("files that an ACP agent asks us for", () => {
  const write = (path: string) => `await ask('fs/write_text_file', { path: '${path}', content: 'new\\n' })`;
  const read = (path: string, more = "") => `await ask('fs/read_text_file', { path: '${path}'${more} })`;
  const result = (run: Awaited<ReturnType<typeof quirk>>): string[] => JSON.parse(run.outcome.output?.summary ?? "[]") as string[];
  const all = (...asks: string[]) => `const said = []; for (const answer of [${asks.join(", ")}]) said.push(answer.error?.message ?? answer.result.content ?? 'ok'); finish(JSON.stringify(said))`;

  it("are read and written inside the worktree, in parts too, though we did not offer it; the write is on record", async () => {
    const at = stage({ "a.txt": "1\n2\n3\n4\n" });
    const run = await quirk(all(read(join(at.worktree, "a.txt")), read(join(at.worktree, "a.txt"), ", line: 2, limit: 2"), read(join(at.worktree, "a.txt"), ", line: 4"), write(join(at.worktree, "sub", "b.txt"))), { at });
    expect(result(run)).toEqual(["1\n2\n3\n4\n", "2\n3", "4\n", "ok"]);
    expect(readFileSync(join(at.worktree, "sub", "b.txt"), "utf8")).toBe("new\n");
    expect(ofType(run.events, "agent.tool_call").map((e) => [e.tool, e.input])).toEqual([["fs/write_text_file", { path: join(at.worktree, "sub", "b.txt") }]]);
    expect(ofType(run.events, "agent.tool_result").map((e) => e.ok)).toEqual([true]);
  });

  it("are never outside of it: by path, by link, by a link in the middle", async () => {
    const at = stage({ "real.txt": "x" });
    symlinkSync(at.home, join(at.worktree, "out"));
    symlinkSync(join(at.home, "canary"), join(at.worktree, "canary"));
    const paths = [join(at.home, "canary"), join(at.worktree, "out", "canary"), join(at.worktree, "canary"), join(at.worktree, "..", "..", "..", "canary"), "/etc/passwd", ""];
    const run = await quirk(all(...paths.map((path) => read(path)), ...paths.map((path) => write(path))), { at });
    expect(result(run)).toHaveLength(12);
    for (const said of result(run)) expect(said).toMatch(/Invalid params|not allowed/);
    expect(readFileSync(join(at.home, "canary"), "utf8")).toBe("home-canary");
    expect(run.outcome.text).not.toMatch(/home-canary|checkout-canary|root:/);
  });

  it("are not written without the right, nor where agents and git are configured, whatever the path looks like", async () => {
    const at = stage({ ".claude/settings.json": "{}", "x.txt": "old\n" });
    symlinkSync(".claude", join(at.worktree, "innocent"));
    const run = await quirk(all(...[".claude/settings.json", "innocent/settings.json", ".git", ".mcp.json", "sub/.git/config", ".CRUCIBLE/agents/x.md"].map((path) => write(join(at.worktree, path)))), { at });
    expect(result(run).filter((said) => said === "ok")).toEqual([]);
    expect(readFileSync(join(at.worktree, ".claude", "settings.json"), "utf8")).toBe("{}");
    const reader = await quirk(all(write(join(at.worktree, "x.txt")), read(join(at.worktree, "x.txt"))), { at, request: { permissions: ["FilesystemRead", "SemanticSearch"] } });
    expect(result(reader)).toEqual(["Invalid request: not allowed: this agent does not have the right FilesystemWrite", "old\n"]);
    expect(readFileSync(join(at.worktree, "x.txt"), "utf8")).toBe("old\n");
  });

  it("of another session, and terminals, are refused", async () => {
    const run = await quirk(`${all("await ask('fs/read_text_file', { path: 'readme.md', sessionId: 'other' })", "await ask('terminal/create', { command: 'id' })", "await ask('no/such', {})")}`);
    expect(result(run)).toEqual(["Invalid request: there is no such session at work", '"Method not found": terminal/create', '"Method not found": no/such']);
  });
});
