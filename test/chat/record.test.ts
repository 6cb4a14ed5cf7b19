import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatMachine, type ChatMachine } from "../support/chat.ts";

const HOME = {
  ".config/crucible/agents/reader.md": "---\nname: reader\ndescription: reads\nmodel: haiku\npermissions: [FilesystemRead]\n---\nPROMPT-OF-reader\n",
  ".config/crucible/agents/broken.md": "---\nname: broken\ndescription: breaks\npermissions: []\n---\nPROMPT-OF-broken\n",
};
const spawn = (agent: string, task: string): object => ({ name: "spawn_agent", input: { agent, task }, id: `id-${task}` });
const LONG = `${"A long summary that goes on. ".repeat(10)}`;

/** Two children, one of them fails. */
function family(): Promise<ChatMachine> {
  return chatMachine(
    {
      rules: [
        { match: { system: "PROMPT-OF-reader" }, by: "turn", replies: [{ text: `Findings.\n\n## Summary\n${LONG}`, usage: { input: 100, output: 10 } }] },
        { match: { system: "PROMPT-OF-broken" }, by: "turn", replies: [{ error: { status: 400, message: "no such thing" } }] },
        { match: { system: "primary agent" }, by: "turn", replies: [{ tools: [spawn("reader", "first"), spawn("broken", "second")], usage: { input: 50, output: 5 } }, { text: "Both reported: one found it, one failed.", usage: { input: 70, output: 7 } }] },
      ],
    } as Parameters<typeof chatMachine>[0],
    { home: HOME },
  );
}

describe("the session folder", () => {
  it("[CRU-4.1.1] [CRU-4.1.2] [CRU-4.1.3] [CRU-4.1.4] one folder per request, named by day and words, unique", async () => {
    const box = await chatMachine(() => ({ text: "hi" }));
    await box.chat(["Fix the parser, please!"]);
    await box.chat(["Fix the parser, please!"]);
    const [first, second] = box.sessions();
    expect(first).toMatch(/^\d{4}-\d\d-\d\d-fix-the-parser-please$/);
    expect(second).toBe(`${first}-2`);
    expect(box.session(first).files).toEqual(expect.arrayContaining(["session.md", "metadata.json"]));
    expect(existsSync(join(box.project, ".crucible/sessions/.gitignore"))).toBe(true);
  });

  it("[CRU-4.2.1] [CRU-4.2.2] [CRU-4.2.3] [CRU-4.2.4] each child has its file, linked both ways", async () => {
    const box = await family();
    await box.chat(["x"]);
    const session = box.session();
    const { head, name } = session.child("reader");
    expect(name).toMatch(/^reader-[0-9a-f]{4,}$/);
    expect(session.markdown("session.md").body).toContain(`[[${name}]]`);
    expect(head).toMatchObject({ session_id: session.id, parent: "[[session]]" });
  });

  it("[CRU-4.3.1] [CRU-4.3.2] [CRU-4.3.3] [CRU-4.3.4] session.md, one file per child, statistics, all of it valid markdown with frontmatter", async () => {
    const box = await family();
    await box.chat(["x"]);
    const { files, metadata, markdown } = box.session();
    expect(files.filter((f) => f.endsWith(".md")).map((f) => f.replace(/-.*/, "")).sort()).toEqual(["broken", "reader", "session.md"]);
    for (const file of files.filter((f) => f.endsWith(".md"))) expect(typeof markdown(file).head.session_id).toBe("string");
    expect(metadata).toMatchObject({ tokens: { input: 220, output: 22 }, status: "completed" });
  });

  it("[CRU-4.4.1] [CRU-4.4.2] [CRU-4.4.3] every link leads to a file of the folder, and back", async () => {
    const box = await family();
    await box.chat(["x"]);
    const session = box.session();
    const links = [...session.markdown("session.md").body.matchAll(/\[\[([^\]]+)\]\]/g)].map((m) => m[1]);
    expect(new Set(links).size).toBe(2);
    for (const link of links) {
      expect(session.files).toContain(`${link}.md`);
      const { head } = session.markdown(`${link}.md`);
      expect([head.parent, head.session_id]).toEqual(["[[session]]", session.id]);
    }
  });

  it("[CRU-11.1.1] [CRU-11.1.2] [CRU-11.1.3] [CRU-11.1.4] metadata of the session", async () => {
    const box = await family();
    await box.chat(["x"]);
    const { metadata, id } = box.session();
    expect(metadata).toMatchObject({ session_id: id, status: "completed", primary: { agent: "primary", model: "claude-sonnet-5-5", version: expect.any(String) } });
    expect(Date.parse(metadata.completed_at ?? "")).toBeGreaterThanOrEqual(Date.parse(metadata.started_at));
    expect(metadata.subagents.map((s) => s.replace(/-.*/, ""))).toEqual(["reader", "broken"]);
    expect(metadata.tokens).toEqual({ input: 220, output: 22 });
  });

  it("[CRU-11.2.1] [CRU-11.2.2] [CRU-11.2.3] [CRU-11.2.4] frontmatter of a child", async () => {
    const box = await family();
    await box.chat(["x"]);
    const { head } = box.session().child("reader");
    expect(Date.parse(String(head.completed_at))).toBeGreaterThanOrEqual(Date.parse(String(head.spawned_at)));
    expect(head).toMatchObject({ model: "claude-haiku-5-5", tokens: { input: 100, output: 10 }, parent: "[[session]]", permissions: ["FilesystemRead", "SemanticSearch"] });
    expect(head.duration_ms).toBeGreaterThanOrEqual(0);
  });

  it("[CRU-11.3.1] [CRU-11.3.2] [CRU-11.3.3] [CRU-11.3.4] a failed child says what, where and in which chain", async () => {
    const box = await family();
    await box.chat(["x"]);
    const { head } = box.session().child("broken");
    expect(head).toMatchObject({ status: "failed", error: { type: "bad_request", message: expect.stringContaining("no such thing"), stack: expect.stringContaining("Error") } });
    expect(head).toMatchObject({ parent_chain: ["user", "primary", "broken"], trace_id: box.session().metadata.trace_id });
  });
});

describe("traces", () => {
  it("[CRU-16.1.1] [CRU-16.1.2] [CRU-16.1.3] [CRU-16.1.4] one trace id per request, on every event and file", async () => {
    const box = await family();
    await box.chat(["x"]);
    const { metadata, events, child } = box.session();
    expect(metadata.trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(new Set(events.map((e) => e.trace_id))).toEqual(new Set([metadata.trace_id]));
    expect([child("reader").head.trace_id, child("broken").head.trace_id]).toEqual([metadata.trace_id, metadata.trace_id]);
    await box.chat(["y"]);
    expect(box.session(box.sessions().at(-1)).metadata.trace_id).not.toBe(metadata.trace_id);
  });

  it("[CRU-16.2.1] [CRU-16.2.2] [CRU-16.2.3] [CRU-16.2.4] the chain from the user down, in metadata and files", async () => {
    const box = await family();
    await box.chat(["x"]);
    const { metadata, child } = box.session();
    expect(metadata.trace.map((t) => t.parent_chain)).toEqual([["user", "primary"], ["user", "primary", "reader"], ["user", "primary", "broken"]]);
    expect(child("reader").head.parent_chain).toEqual(["user", "primary", "reader"]);
    const failed = metadata.trace.find((t) => t.error !== null);
    expect(metadata.trace.find((t) => t.span_id === failed?.parent_span_id)?.agent).toBe("primary");
  });

  it("[CRU-16.3.1] [CRU-16.3.2] [CRU-16.3.3] [CRU-16.3.4] `sessions trace` draws the tree with order, time and tokens; a failure stands out", async () => {
    const box = await family();
    await box.chat(["x"]);
    const { stdout, code } = await box.cru(["sessions", "trace", box.session().id]);
    expect(code).toBe(0);
    const [, root = "", first = "", second = ""] = stdout.split("\n");
    expect(root).toMatch(/^\[primary\] claude-sonnet-5-5 \([\d,]+ ms, 132 tok\) ✓/);
    expect(first).toMatch(/^├─ \[reader\] claude-haiku-5-5 \([\d,]+ ms, 110 tok\) ✓/);
    expect(second).toMatch(/^└─ \[broken\] claude-sonnet-5-5 \([\d,]+ ms, 0 tok\) ✗/);
    expect(stdout).toContain("no such thing");
  });

  it("[CRU-16.4.1] [CRU-16.4.2] [CRU-16.4.3] [CRU-16.4.4] an error carries trace, chain, the agent, and what its parent was about", async () => {
    const box = await family();
    await box.chat(["find it and tell me"]);
    const told = box.requests.at(-1)?.users.at(-1) ?? "";
    const { metadata } = box.session();
    expect(told).toContain("Agent broken failed (bad_request)");
    expect(told).toContain(`trace ${metadata.trace_id}, chain user → primary → broken, while the parent was attempting: find it and tell me`);
    const entry = metadata.trace.find((t) => t.agent === "broken");
    expect(entry).toMatchObject({ error: { message: expect.stringContaining("no such thing") }, task: "second", parent_attempt: "find it and tell me" });
  });
});

describe("progress", () => {
  it("[CRU-8.1.1] [CRU-8.1.2] [CRU-8.1.3] the start of a subagent is on screen before it has answered", async () => {
    const box = await chatMachine({
      rules: [
        { match: { system: "PROMPT-OF-reader" }, by: "turn", replies: [{ text: "ok", delay_ms: 400 }] },
        { match: {}, by: "turn", replies: [{ tools: [spawn("reader", "t")] }, { text: "ok" }] },
      ],
    } as Parameters<typeof chatMachine>[0], { home: HOME });
    const { stderr } = await box.chat(["x"]);
    const lines = stderr.split("\n");
    expect(lines.indexOf("→ Running reader agent...")).toBeLessThan(lines.indexOf("  ok"));
    const { events } = box.session();
    const started = events.findIndex((e) => e.type === "agent.started" && e.depth === 1);
    expect(started).toBeLessThan(events.findIndex((e, i) => i > started && e.type === "model.request"));
  });

  it("[CRU-8.2.1] [CRU-8.2.2] [CRU-8.2.3] the end is the first 100 characters of the summary, indented; the file has all of it", async () => {
    const box = await family();
    const { stderr } = await box.chat(["x"]);
    expect(stderr.split("\n").find((l) => l.startsWith("  A long"))).toBe(`  ${LONG.trim().slice(0, 100)}…`);
    expect(box.session().child("reader").body).toContain(LONG.trim());
  });

  it("[CRU-8.3.1] [CRU-8.3.2] [CRU-8.3.3] a failure names agent, type and how bad it is; the details are in the file", async () => {
    const box = await family();
    const { stderr } = await box.chat(["x"]);
    expect(stderr).toMatch(/ {2}✗ error: broken failed \(bad_request\): .*no such thing/);
    expect(readFileSync(join(box.session().folder, `${box.session().child("broken").name}.md`), "utf8")).toContain("stack:");
  });

  it("[CRU-13.2.1] [CRU-13.2.2] [CRU-13.2.3] the user sees short progress, the primary's own words, and where the rest is", async () => {
    const box = await family();
    const { stdout, stderr } = await box.chat(["x"]);
    expect(stdout).toBe("Both reported: one found it, one failed.\n");
    expect(stderr).toContain("→ Running reader agent...");
    expect(stderr).toContain(`session ${box.session().id}`);
    expect((await box.cru(["sessions", "show", box.session().id])).stdout).toContain("reader-");
  });
});

describe("a conversation with subagents", () => {
  it("[CRU-13.1.1] [CRU-13.1.2] [CRU-13.1.3] the primary calls spawn_agent, the conversation goes on, the result is in its answer", async () => {
    const box = await chatMachine({
      rules: [
        { match: { system: "PROMPT-OF-reader" }, by: "turn", replies: [{ text: "The magic number is 7." }] },
        { match: {}, by: "turn", replies: [{ text: "I ask reader.", tools: [spawn("reader", "t")] }, { text: "reader says: 7." }] },
      ],
    } as Parameters<typeof chatMachine>[0], { home: HOME });
    const { stdout, code } = await box.chat(["which number?"]);
    expect([code, stdout]).toEqual([0, "reader says: 7.\n"]);
    expect(box.requests.at(-1)?.users).toHaveLength(2);
    expect(box.requests.at(-1)?.users.at(-1)).toContain("The magic number is 7.");
  });

  it("[CRU-13.3.1] [CRU-13.3.2] [CRU-13.3.3] [CRU-13.3.4] a plan with an agent per step runs in order and ends in one answer made of all of them", async () => {
    const tasks = [
      { id: "a", description: "explore the code", agent: "reader" },
      { id: "b", description: "review the code", agent: "reader", depends_on: ["a"] },
      { id: "c", description: "write it up", agent: "reader", depends_on: ["b"] },
    ];
    const box = await chatMachine({
      rules: [
        ...tasks.map((t) => ({ match: { system: "PROMPT-OF-reader", first_user: t.description }, by: "turn", replies: [{ text: `outcome of ${t.id}` }] })),
        { match: {}, by: "turn", replies: [{ tools: [{ name: "update_plan", input: { tasks } }] }, { text: "a, b and c together mean: fine." }] },
      ],
    } as Parameters<typeof chatMachine>[0], { home: HOME });
    const { stdout } = await box.chat(["do all three"]);
    const { events } = box.session();
    expect(events.flatMap((e) => (e.type === "agent.started" && e.depth === 1 ? [e.task] : []))).toEqual(tasks.map((t) => t.description));
    const told = box.requests.at(-1)?.users.at(-1) ?? "";
    for (const t of tasks) expect(told).toContain(`outcome of ${t.id}`);
    expect(stdout).toBe("a, b and c together mean: fine.\n");
  });

  it("[PAOR-3.1.1] a large code base is given to explore, and only its summary enters the parent's context", async () => {
    const noise = "internal detail ".repeat(500);
    const box = await chatMachine({
      rules: [
        { match: { system: "You are an explorer" }, by: "turn", replies: [{ text: noise, tools: [{ name: "list_notes", input: {} }] }, { text: "## Summary\nThe parser lives in src/parse." }] },
        { match: {}, by: "turn", replies: [{ tools: [spawn("explore", "where is the parser?")] }, { text: "In src/parse." }] },
      ],
    } as Parameters<typeof chatMachine>[0]);
    const { stdout } = await box.chat(["understand this code base"]);
    expect(stdout).toBe("In src/parse.\n");
    const parent = box.requests.filter((r) => !r.system.includes("You are an explorer"));
    expect(JSON.stringify(parent.at(-1)?.body)).toContain("The parser lives in src/parse.");
    expect(JSON.stringify(parent.at(-1)?.body)).not.toContain("internal detail");
  });
});
