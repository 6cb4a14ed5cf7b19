import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatMachine } from "../support/chat.ts";
import { until } from "../support/processes.ts";

const agent = (name: string, extra: string, prompt = `PROMPT-OF-${name}`): string => `---\nname: ${name}\ndescription: ${name} agent\n${extra}\n---\n${prompt}\n`;
const home = (agents: Record<string, string>): { home: Record<string, string> } => ({
  home: Object.fromEntries(Object.entries(agents).map(([name, text]) => [`.config/crucible/agents/${name}.md`, text])),
});
const READER = agent("reader", "model: haiku\npermissions: [FilesystemRead, FilesystemWrite]");
const spawn = (input: Record<string, unknown>, id?: string): { name: string; input: unknown; id?: string } => ({ name: "spawn_agent", input, ...(id === undefined ? {} : { id }) });
const done = (text: string): { text: string } => ({ text });
const child = (name: string, ...replies: object[]): { match: { system: string }; by: "turn"; replies: object[] } => ({ match: { system: `PROMPT-OF-${name}` }, by: "turn", replies });
const primary = (...replies: object[]): { match: { system: string }; by: "turn"; replies: object[] } => ({ match: { system: "primary agent of Crucible" }, by: "turn", replies });

describe("spawning", () => {
  it("[CRU-3.1.1] [CRU-3.1.2] [CRU-3.1.3] [CRU-3.1.4] a subagent gets its own prompt and task in a new conversation, and its markdown comes back", async () => {
    const box = await chatMachine(
      { rules: [child("reader", done("Found 3.\n\n## Summary\nThree usages.")), primary({ text: "SECRET-PLAN of the parent", tools: [spawn({ agent: "reader", task: "count usages of X" })] }, done("There are three."))] },
      home({ reader: READER }),
    );
    const { code, stdout } = await box.chat(["how many usages of X?"]);
    expect([code, stdout]).toEqual([0, "There are three.\n"]);
    const sub = box.requests.find((r) => r.system.includes("PROMPT-OF-reader"));
    expect(sub?.users).toEqual(["count usages of X"]);
    expect(JSON.stringify(sub?.body)).not.toContain("SECRET-PLAN");
    expect(box.requests.at(-1)?.users.at(-1)).toContain("## Summary\nThree usages.");
  });

  it("[CRU-3.2.1] [CRU-3.2.2] [CRU-3.2.3] [CRU-3.2.4] a subagent sees task and prompt only, can read notes, and has no more than the spawn gave it", async () => {
    const box = await chatMachine(
      { rules: [child("reader", done("ok")), primary({ tools: [spawn({ agent: "reader", task: "T", permissions: ["FilesystemRead"] })] }, done("fine"))] },
      { ...home({ reader: READER }), project: { "CLAUDE.md": "GUIDANCE-OF-PROJECT" } },
    );
    await box.chat(["the request of the user"]);
    const sub = box.requests.find((r) => r.system.includes("PROMPT-OF-reader"));
    expect(sub?.users).toEqual(["T"]);
    expect(sub?.system).toBe("PROMPT-OF-reader");
    expect(sub?.tools).toEqual(expect.arrayContaining(["read_note", "semantic_search", "list_notes"]));
    expect(sub?.tools).not.toContain("write_file");
    expect(box.requests[0]?.tools).toContain("write_file");
    expect(box.requests[0]?.system).toContain("GUIDANCE-OF-PROJECT");
  });

  it("[CRU-3.3.1] [CRU-3.3.2] [CRU-3.3.3] [CRU-3.3.4] the result is a file with frontmatter, task, findings and summary, linked from the parent", async () => {
    const box = await chatMachine(
      { rules: [child("reader", { text: "Details here.\n\n## Summary\nShort.", usage: { input: 100, output: 20 } }), primary({ tools: [spawn({ agent: "reader", task: "look" })] }, done("ok"))] },
      home({ reader: READER }),
    );
    await box.chat(["x"]);
    const session = box.session();
    const { head, body, name } = session.child("reader");
    expect(head).toMatchObject({ agent: "reader", model: "claude-haiku-5-5", status: "completed", tokens: { input: 100, output: 20 } });
    expect(head.duration_ms).toBeGreaterThanOrEqual(0);
    expect(body).toMatch(/## Task\s+> look\s+## Findings\s+Details here\.\s+## Summary\s+Short\./);
    expect(session.markdown("session.md").body).toContain(`[[${name}]]`);
  });

  it("[CRU-3.4.1] [CRU-3.4.2] [CRU-3.4.3] [CRU-3.4.4] a subagent that fails is a result with the error, saved, and the next one runs", async () => {
    const box = await chatMachine(
      {
        rules: [
          child("broken", { error: { status: 400, message: "bad thing happened" } }),
          child("reader", done("fine\n\n## Summary\nStill here.")),
          primary({ tools: [spawn({ agent: "broken", task: "A" }, "t1"), spawn({ agent: "reader", task: "B" }, "t2")] }, done("One failed, one worked.")),
        ],
      },
      home({ reader: READER, broken: agent("broken", "permissions: []") }),
    );
    const { code, stderr } = await box.chat(["x"]);
    expect(code).toBe(0);
    const session = box.session();
    const failed = session.child("broken");
    expect(failed.head).toMatchObject({ status: "failed", error: { type: "bad_request" } });
    expect((failed.head.error as { message: string }).message).toContain("bad thing happened");
    expect(typeof (failed.head.error as { stack?: string }).stack).toBe("string");
    expect(session.child("reader").head.status).toBe("completed");
    const told = box.requests.at(-1)?.users.at(-1) ?? "";
    expect(told).toContain("Agent broken failed (bad_request)");
    expect(told).toContain("Still here.");
    expect(stderr).toMatch(/✗ error: broken failed \(bad_request\): .*bad thing happened/);
  });
});

describe("rights", () => {
  it("[CRU-5.1.1] [CRU-5.1.2] [CRU-5.1.3] without constraints the parent's rights are the ceiling, and the metadata says what was inherited", async () => {
    const box = await chatMachine(
      { rules: [child("wide", done("ok")), primary({ tools: [spawn({ agent: "wide", task: "t" })] }, done("ok"))] },
      home({ wide: agent("wide", "permissions: [FilesystemRead, FilesystemWrite, NetworkAccess, Shell]") }),
    );
    await box.chat(["x", "--deny", "NetworkAccess,DatabaseRead,DatabaseWrite"]);
    const granted = box.session().metadata.permissions.find((p) => p.agent === "wide");
    expect(granted).toMatchObject({ granted: ["FilesystemRead", "FilesystemWrite", "SemanticSearch", "Shell"], inherited: true, reduced: ["NetworkAccess"] });
    expect(box.requests.at(-1)?.users.at(-1)).toContain("ran without NetworkAccess");
  });

  it("[CRU-5.2.1] [CRU-5.2.2] [CRU-5.2.4] constraints of the spawn are what the child gets, in its frontmatter too", async () => {
    const box = await chatMachine(
      { rules: [child("reader", done("ok")), primary({ tools: [spawn({ agent: "reader", task: "t", permissions: ["FilesystemRead"] })] }, done("ok"))] },
      home({ reader: READER }),
    );
    await box.chat(["x"]);
    expect(box.session().child("reader").head).toMatchObject({ permissions: ["FilesystemRead", "SemanticSearch"], constraint: "FilesystemRead" });
  });

  it("[CRU-5.3.1] [CRU-5.3.2] [CRU-5.3.3] [CRU-5.3.4] reading and searching cannot be taken away", async () => {
    const box = await chatMachine(
      { rules: [child("none", done("ok")), primary({ tools: [spawn({ agent: "none", task: "t", permissions: [] })] }, done("ok"))] },
      home({ none: agent("none", "permissions: []") }),
    );
    await box.chat(["x"]);
    expect(box.session().child("none").head.permissions).toEqual(["FilesystemRead", "SemanticSearch"]);
    const sub = box.requests.find((r) => r.system.includes("PROMPT-OF-none"));
    expect(sub?.tools).toEqual(expect.arrayContaining(["read_note", "list_notes", "semantic_search"]));
    const denied = await box.chat(["x", "--deny", "FilesystemRead"]);
    expect([denied.code, denied.stderr]).toEqual([2, expect.stringContaining("FilesystemRead cannot be denied")]);
  });

  it("[CRU-5.2.3] [CRU-5.4.1] [CRU-5.4.2] [CRU-5.4.3] a spawn that asks for more than the parent has is refused with the right and the parent's list", async () => {
    const box = await chatMachine(
      { rules: [child("net", done("never")), primary({ tools: [spawn({ agent: "net", task: "t", permissions: ["NetworkAccess"] })] }, done("I do it myself."))] },
      home({ net: agent("net", "permissions: [NetworkAccess]") }),
    );
    const { code, stdout } = await box.chat(["x", "--deny", "NetworkAccess"]);
    const told = box.requests.at(-1)?.users.at(-1) ?? "";
    expect(told).toContain("permission 'NetworkAccess' exceeds the parent's");
    expect(told).toContain("the parent's permissions: FilesystemRead, FilesystemWrite, SemanticSearch, DatabaseRead, DatabaseWrite, Shell");
    expect(box.requests.some((r) => r.system.includes("PROMPT-OF-net"))).toBe(false);
    expect([code, stdout]).toEqual([0, "I do it myself.\n"]);
  });

  it("[CRU-5.4.4] the parent gets the refusal as an error result that it can handle", async () => {
    const box = await chatMachine(
      { rules: [child("reader", done("ok")), primary({ tools: [spawn({ agent: "reader", task: "t", permissions: ["Shell"] }, "t1")] }, { tools: [spawn({ agent: "reader", task: "t" }, "t2")] }, done("worked the second time"))] },
      home({ reader: READER }),
    );
    const { stdout } = await box.chat(["x"]);
    const refused = box.session().events.find((e) => e.type === "agent.tool_result" && e.call_id === "t1");
    expect(refused).toMatchObject({ ok: false, output: expect.stringContaining("permission 'Shell' is not in the agent's definition") });
    expect(stdout).toBe("worked the second time\n");
  });
});

describe("queue", () => {
  const slow = (text: string): object => ({ text, delay_ms: 60 });

  it("[CRU-6.1.1] [CRU-6.1.2] [CRU-6.1.3] one subagent starts at once, the parent waits for it, its time is in the metadata", async () => {
    const box = await chatMachine({ rules: [child("reader", slow("ok")), primary({ tools: [spawn({ agent: "reader", task: "t" })] }, done("after"))] }, home({ reader: READER }));
    await box.chat(["x"]);
    const { events, metadata } = box.session();
    expect(events.some((e) => e.type === "agent.queued")).toBe(false);
    const order = events.flatMap((e) => (e.type === "agent.completed" ? [e.agent] : e.type === "agent.output" ? [e.text] : []));
    expect(order.slice(-3)).toEqual(["reader", "after", "primary"]);
    expect(metadata.trace.find((t) => t.agent === "reader")?.duration_ms).toBeGreaterThanOrEqual(60);
  });

  it("[CRU-6.2.1] [CRU-6.2.2] [CRU-6.2.3] [CRU-6.2.4] several wait their turn, one after the other, and come back in spawn order", async () => {
    const tasks = ["A", "B", "C"];
    const box = await chatMachine(
      { rules: [...tasks.map((t) => ({ match: { system: "PROMPT-OF-reader", first_user: `task ${t}` }, by: "turn" as const, replies: [slow(`result ${t}`)] })), primary({ tools: tasks.map((t) => spawn({ agent: "reader", task: `task ${t}` }, t)) }, done("all"))] },
      home({ reader: READER }),
    );
    await box.chat(["x"]);
    const { events } = box.session();
    const flow = events.flatMap((e) => (e.type === "agent.started" && e.depth === 1 ? [`start ${e.task}`] : e.type === "agent.completed" && e.agent === "reader" ? [`end ${e.summary}`] : e.type === "agent.queued" ? [`queued ${e.depth}`] : []));
    expect(flow).toEqual(["start task A", "queued 1", "queued 2", "end result A", "start task B", "end result B", "start task C", "end result C"]);
    const told = box.requests.at(-1)?.users.at(-1) ?? "";
    expect(told.match(/result [ABC]/g)).toEqual(["result A", "result B", "result C"]);
  });

  it("[CRU-6.3.1] [CRU-6.3.2] the user sees who runs, and the metadata how long the line was", async () => {
    const box = await chatMachine(
      { rules: [child("reader", done("ok")), primary({ tools: [spawn({ agent: "reader", task: "1" }, "a"), spawn({ agent: "reader", task: "2" }, "b"), spawn({ agent: "reader", task: "3" }, "c")] }, done("all"))] },
      home({ reader: READER }),
    );
    const { stderr } = await box.chat(["x"]);
    expect(stderr.match(/→ Running reader agent\.\.\./g)).toHaveLength(3);
    expect(box.session().metadata.queue).toMatchObject({ max_depth_seen: 2 });
    expect(box.session().metadata.queue.order).toHaveLength(3);
  });

  it("[CRU-6.4.3] going from one at a time to several is one setting, and results stay in spawn order", async () => {
    const box = await chatMachine(
      { rules: [{ match: { system: "PROMPT-OF-reader", first_user: "slow" }, replies: async () => (await until(() => quickHasEnded()), { text: "SLOW" }) }, child("reader", done("QUICK")), primary({ tools: [spawn({ agent: "reader", task: "slow" }, "a"), spawn({ agent: "reader", task: "quick" }, "b")] }, done("all"))] },
      home({ reader: READER }),
    );
    const quickHasEnded = (): boolean => readFileSync(join(box.session().folder, "events.jsonl"), "utf8").includes('"summary":"QUICK"');
    await box.chat(["x"], { env: { CRU_QUEUE_MAX_CONCURRENT: "2" } });
    const ended = box.session().events.flatMap((e) => (e.type === "agent.completed" && e.agent === "reader" ? [e.summary] : []));
    expect(ended).toEqual(["QUICK", "SLOW"]);
    const told = box.requests.at(-1)?.users.at(-1) ?? "";
    expect(told.indexOf("SLOW")).toBeLessThan(told.indexOf("QUICK"));
  });
});

describe("depth", () => {
  it("[CRU-7.1.1] [CRU-7.1.2] [CRU-7.1.3] [CRU-7.2.1] the primary is at depth 0 and may spawn, its child is at depth 1", async () => {
    const box = await chatMachine({ rules: [child("reader", done("ok")), primary({ tools: [spawn({ agent: "reader", task: "t" })] }, done("ok"))] }, home({ reader: READER }));
    await box.chat(["x"]);
    expect(box.session().metadata.trace.map((t) => [t.agent, t.depth])).toEqual([["primary", 0], ["reader", 1]]);
    expect(box.session().metadata.depth).toBe(1);
  });

  it("[CRU-7.2.2] [CRU-7.2.3] [CRU-7.3.1] [CRU-7.3.2] a subagent runs, one deeper than its parent, and may not spawn", async () => {
    const box = await chatMachine(
      { rules: [child("reader", { tools: [spawn({ agent: "explore", task: "deeper" })] }, done("I did it alone.")), primary({ tools: [spawn({ agent: "reader", task: "t" })] }, done("ok"))] },
      home({ reader: READER }),
    );
    const { code } = await box.chat(["x"]);
    const { events, metadata } = box.session();
    expect(code).toBe(0);
    expect(metadata.trace.map((t) => t.depth)).toEqual([0, 1]);
    expect(events.find((e) => e.type === "agent.tool_result" && e.output.includes("Maximum agent depth"))).toMatchObject({ ok: false, output: expect.stringContaining("Maximum agent depth (2) exceeded") });
  });

  it("[CRU-7.3.3] [CRU-7.3.4] by plan as by tool: the error explains, and the subagent goes on", async () => {
    const plan = { name: "update_plan", input: { tasks: [{ id: "a", description: "deeper", agent: "explore" }] } };
    const box = await chatMachine({ rules: [child("reader", { tools: [plan] }, done("Alone then.")), primary({ tools: [spawn({ agent: "reader", task: "t" })] }, done("ok"))] }, home({ reader: READER }));
    await box.chat(["x"]);
    const told = box.requests.find((r) => r.system.includes("PROMPT-OF-reader") && r.turns === 1)?.users.at(-1) ?? "";
    expect(told).toContain("subagents cannot spawn their own subagents");
    expect(box.session().child("reader").body).toContain("Alone then.");
  });

  it("no more children than the limit in one session", async () => {
    const box = await chatMachine(
      { rules: [child("reader", done("ok")), primary({ tools: ["a", "b", "c"].map((t) => spawn({ agent: "reader", task: t }, t)) }, done("ok"))] },
      home({ reader: READER }),
    );
    await box.chat(["x"], { env: { CRU_LIMITS_CHILDREN_TOTAL: "2" } });
    expect(box.session().metadata.subagents).toHaveLength(2);
    expect(box.requests.at(-1)?.users.at(-1)).toContain("may start 2 agents");
  });
});

describe("models", () => {
  it("[CRU-9.1.1] [CRU-9.1.2] [CRU-9.1.3] the definition's model is used, logged and priced", async () => {
    const box = await chatMachine(
      { rules: [child("reader", { text: "ok", usage: { input: 1000, output: 1000 } }), primary({ tools: [spawn({ agent: "reader", task: "t" })] }, done("ok"))] },
      home({ reader: READER }),
    );
    await box.chat(["x"]);
    expect(box.requests.find((r) => r.system.includes("PROMPT-OF-reader"))?.model).toBe("claude-haiku-5-5");
    const { head } = box.session().child("reader");
    expect(head).toMatchObject({ model: "claude-haiku-5-5", model_source: "definition" });
    expect(head.cost_usd).toBeCloseTo((1000 * 0.1 + 1000 * 0.5) / 1e6, 9);
  });

  it("[CRU-9.2.3] an agent without a model gets the default, and the log says so", async () => {
    const box = await chatMachine(
      { rules: [child("plain", done("ok")), primary({ tools: [spawn({ agent: "plain", task: "t" })] }, done("ok"))] },
      home({ plain: agent("plain", "permissions: []") }),
    );
    await box.chat(["x"], { env: { CRU_MODEL: "opus" } });
    expect(box.session().child("plain").head).toMatchObject({ model: "claude-opus-5-5", model_source: "default" });
  });

  it("[CRU-9.3.1] [CRU-9.3.2] [CRU-9.3.3] an override at spawn wins, is checked, and is in the metadata", async () => {
    const box = await chatMachine(
      { rules: [child("reader", done("ok")), primary({ tools: [spawn({ agent: "reader", task: "t", model: "gigantic" }, "bad")] }, { tools: [spawn({ agent: "reader", task: "t", model: "opus" }, "good")] }, done("ok"))] },
      home({ reader: READER }),
    );
    await box.chat(["x"]);
    const { events, metadata } = box.session();
    expect(events.find((e) => e.type === "agent.tool_result" && e.call_id === "bad")).toMatchObject({ ok: false, output: expect.stringContaining("unknown model 'gigantic'") });
    expect(box.requests.find((r) => r.system.includes("PROMPT-OF-reader"))?.model).toBe("claude-opus-5-5");
    expect(metadata.model_overrides).toEqual([expect.objectContaining({ agent: "reader", model: "claude-opus-5-5" })]);
  });
});

describe("finding agents", () => {
  it("a disabled or unknown agent is not found, also by spawn", async () => {
    const box = await chatMachine(
      { rules: [primary({ tools: [spawn({ agent: "off", task: "t" }, "a"), spawn({ agent: "nobody", task: "t" }, "b"), { name: "get_agent", input: { name: "off" }, id: "c" }, { name: "get_agent", input: { name: "reader" }, id: "d" }] }, done("ok"))] },
      home({ reader: READER, off: agent("off", "permissions: []\nenabled: false") }),
    );
    await box.chat(["x"]);
    const result = (id: string): string => box.session().events.flatMap((e) => (e.type === "agent.tool_result" && e.call_id === id ? [e.output] : []))[0] ?? "";
    expect([result("a"), result("b"), result("c")].map((t) => /agent not found: \w+/.exec(t)?.[0])).toEqual(["agent not found: off", "agent not found: nobody", "agent not found: off"]);
    expect(result("d")).toContain("PROMPT-OF-reader");
  });

  it("an untrusted project agent is not used; the one it hides is, and the user is told once", async () => {
    const box = await chatMachine(
      { rules: [child("reader", done("the trusted one")), primary({ tools: [spawn({ agent: "reader", task: "t" })] }, done("ok"))] },
      { ...home({ reader: READER }), project: { ".crucible/agents/reader.md": agent("reader", "permissions: [Shell]", "HOSTILE") } },
    );
    const { stderr } = await box.chat(["x"]);
    expect(box.requests.some((r) => r.system.includes("HOSTILE"))).toBe(false);
    expect(box.requests.some((r) => r.system.includes("PROMPT-OF-reader"))).toBe(true);
    expect(stderr.match(/not trusted/g)).toHaveLength(1);
    const named = await box.chat(["x", "--agent", "reader"]);
    expect(named.stderr).toContain("this project's agent 'reader' is not trusted, so yours (");
    expect(box.requests.some((r) => r.system.includes("HOSTILE"))).toBe(false);
    const shown = await box.cru(["agents", "show", "reader"]);
    expect(shown.stdout).toMatch(/PROMPT-OF-reader[\s\S]*--- not used, because it is not trusted \(`cru trust`\): \.crucible\/agents\/reader\.md[\s\S]*HOSTILE/);
    const explained = await box.cru(["agents", "explain", "reader", "--json"]);
    expect(JSON.parse(explained.stdout).agent).toMatchObject({ source: "system", trusted: true });
    expect(explained.stderr).toContain("warning: .crucible/agents/reader.md is not trusted");
    writeFileSync(join(box.project, ".crucible/agents/alone.md"), agent("alone", "permissions: [Shell]", "HOSTILE"));
    expect((await box.chat(["x", "--agent", "alone"])).code).toBe(4);
    expect(existsSync(join(box.project, ".crucible/agents/reader.md"))).toBe(true);
    expect(readFileSync(join(box.project, ".crucible/agents/reader.md"), "utf8")).toContain("HOSTILE");
  });
});
