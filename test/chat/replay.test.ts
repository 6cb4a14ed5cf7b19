import { spawn } from "node:child_process";
import { appendFileSync, cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatMachine, type ChatMachine } from "../support/chat.ts";
import { repository } from "../support/cru.ts";
import { until } from "../support/processes.ts";

type Script = Parameters<typeof chatMachine>[0];
type Report = {
  calls: number; recorded_calls: number; agents: number; results: number; questions: number; turns: number; divergences: number;
  divergence: { call: number | null; turn: number; agent: string; kind: string; message: string; changes: { what: string; diff: string }[] } | null;
};

const definition = (name: string, extra = "", permissions = "[]"): Record<string, string> => ({
  [`.config/crucible/agents/${name}.md`]: `---\nname: ${name}\ndescription: ${name}\nmodel: haiku\npermissions: ${permissions}\n${extra}---\nPROMPT-OF-${name}\n`,
});
const call = (name: string, input: unknown, id: string): object => ({ tools: [{ name, input, id }] });
const read = (path: string, id: string): object => call("read_file", { path }, id);
const rule = (system: string, ...replies: object[]): object => ({ match: { system }, by: "turn", replies });
const rules = (...all: object[]): Script => ({ rules: all }) as Script;

/** Without a key, without a server: nothing but the folder. */
async function replay(box: ChatMachine, id = box.session().id): Promise<Report & { code: number; stderr: string }> {
  const { code, stdout, stderr } = await box.cru(["sessions", "replay", id, "--json"], { env: { ANTHROPIC_BASE_URL: "http://127.0.0.1:9" } });
  return { code, stderr, ...(stdout === "" ? {} : (JSON.parse(stdout) as Report)) } as Report & { code: number; stderr: string };
}

/** Every file below the project and the home with its content. */
function snapshot(box: ChatMachine): Record<string, string> {
  const files: Record<string, string> = {};
  for (const root of [box.project, box.home]) {
    for (const name of readdirSync(root, { recursive: true }) as string[]) if (statSync(join(root, name)).isFile()) files[join(root, name)] = readFileSync(join(root, name), "latin1");
  }
  return files;
}

const events = (box: ChatMachine): string => join(box.session().folder, "events.jsonl");
const edit = (path: string, from: string | RegExp, to: string): void => {
  const before = readFileSync(path, "utf8");
  const after = before.replace(from, to);
  if (after === before) throw new Error(`${String(from)} does not stand in ${path}`);
  writeFileSync(path, after);
};

const FILES = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`src/f${i}.js`, `export const f${i} = ${i};\n`]));
const HOME = { ...definition("finder"), ...definition("writer", "", "[FilesystemWrite]") };

/** Thirty calls: a primary with two subagents, a plan, writes and a look back. */
const THIRTY = rules(
  rule("PROMPT-OF-finder", ...Array.from({ length: 10 }, (_, i) => read(`src/f${i}.js`, `f${i}`)), { text: "found ten\n\n## Summary\n\nTen files." }),
  rule("PROMPT-OF-writer", ...Array.from({ length: 6 }, (_, i) => call("write_file", { path: `out/w${i}.md`, content: `# ${i}\n` }, `w${i}`)), { text: "wrote six" }),
  rule(
    "primary agent of Crucible",
    call("update_plan", { tasks: [{ id: "a", description: "look around" }] }, "p0"),
    call("spawn_agent", { agent: "finder", task: "find them" }, "s1"),
    ...Array.from({ length: 6 }, (_, i) => read(`src/f${i + 6}.js`, `r${i}`)),
    call("spawn_agent", { agent: "writer", task: "write them" }, "s2"),
    call("edit_file", { path: "src/f0.js", old: "= 0", new: "= 100" }, "e0"),
    { text: "All is written." },
    { tools: [{ name: "reflect", input: { goal_achieved: true, progress: "done", content: "good" }, id: "z" }] },
  ),
);

describe("cru sessions replay", () => {
  it("a session of 30 calls with two subagents replays offline without a divergence, and nothing is written", async () => {
    const box = await chatMachine(THIRTY, { home: HOME, project: FILES });
    expect(await box.chat(["write them all"])).toMatchObject({ code: 0, stdout: "All is written.\n" });
    expect(box.requests).toHaveLength(30);
    // The world has moved on since: a replay does not look at it.
    for (const path of ["src/f3.js", "out/w1.md"]) appendFileSync(join(box.project, path), "// later\n");
    const before = snapshot(box);
    expect(await replay(box)).toMatchObject({ code: 0, divergences: 0, divergence: null, calls: 30, recorded_calls: 30, agents: 3, results: 27, turns: 1 });
    expect(snapshot(box)).toEqual(before);
    expect(box.requests).toHaveLength(30);
    const text = await box.cru(["sessions", "replay", box.session().id]);
    expect(text.stdout).toContain("30 of 30 model calls the same, 3 agents");
    expect(text.stdout).toContain("0 divergences");
  });

  it("a changed prompt is reported at the first call of that agent, with the line that changed", async () => {
    const box = await chatMachine(THIRTY, { home: HOME, project: FILES });
    await box.chat(["write them all"]);
    edit(join(box.home, ".config/crucible/agents/writer.md"), "PROMPT-OF-writer", "PROMPT-OF-writer\nBe brief.");
    const report = await replay(box);
    // plan, spawn, eleven of the finder, six reads, the spawn: the writer's first is the 21st.
    expect(report).toMatchObject({ code: 1, divergences: 1, divergence: { call: 21, agent: "writer", kind: "request" } });
    expect(report.divergence?.changes).toEqual([{ what: "system prompt", diff: expect.stringContaining("+Be brief.") }]);
    expect(report.calls).toBe(20);
  });

  it("a changed tool result in the recording is reported at the call that carries it", async () => {
    const box = await chatMachine(THIRTY, { home: HOME, project: FILES });
    await box.chat(["write them all"]);
    edit(events(box), /("call_id":"f4".*?"output":")[^"]*/, "$1forged");
    const report = await replay(box);
    // The finder's calls are 3 to 13; the result of its fifth goes out with its sixth.
    expect(report).toMatchObject({ code: 1, divergence: { call: 8, agent: "finder", message: "the request is different: messages" } });
    expect(report.divergence?.changes[0]?.diff).toContain("+forged");
  });

  it("another offer of agents shows as changed tools at the first call", async () => {
    const box = await chatMachine(rules(rule("", { text: "hello" })), { home: HOME });
    await box.chat(["hi"]);
    edit(join(box.home, ".config/crucible/agents/finder.md"), "description: finder", "description: finds things");
    const report = await replay(box);
    expect(report).toMatchObject({ code: 1, divergence: { call: 1, agent: "primary", changes: [{ what: "tools" }] } });
    expect(report.divergence?.changes[0]?.diff).toContain("+- finder: finds things");
  });

  it("critiques, questions, approvals with changes, denials, guidance and restarts replay too", async () => {
    const home = { ...definition("writer", "requires_approval: [write_file]\n", "[FilesystemWrite]"), ...definition("judge", "enable_reflection: true\n") };
    const critique = (pass: boolean): object => ({ text: JSON.stringify({ pass, score: pass ? 1 : 0, critique: "c", improvement: "i" }) });
    const box = await chatMachine(
      rules(
        { match: { system: "PROMPT-OF-judge" }, replies: [{ text: "first" }, critique(false), { text: "second" }, critique(true)] },
        rule("PROMPT-OF-writer", call("write_file", { path: "a.md", content: "1" }, "w1"), call("write_file", { path: "b.md", content: "2" }, "w2"), call("write_file", { path: "c.md", content: "3" }, "w3"), { text: "written" }),
        rule(
          "",
          call("ask_user", { question: "Which?", options: ["one", "two"] }, "q"),
          call("spawn_agent", { agent: "judge", task: "judge it" }, "j"),
          call("spawn_agent", { agent: "writer", task: "write it" }, "s"),
          ...[1, 2, 3].map((n) => call("get_agent", { name: "nobody" }, `g${n}`)),
          call("update_plan", { tasks: [{ id: "u", description: "search only in src/utils" }] }, "u"),
          { text: "done" },
          { text: "and again" },
        ),
      ),
      { home },
    );
    const pending = async (): Promise<string> => ((JSON.parse((await box.cru(["inbox", "list", "--json"])).stdout) as { items: { id: string; status: string }[] }).items.find((i) => i.status === "pending")?.id ?? "");
    const go = (...args: string[]): Promise<unknown> => box.cru(["inbox", ...args, "--resume"], { env: box.env });
    await box.chat(["go"]);
    await go("answer", await pending(), "2");
    await go("approve", await pending(), "--set", "path=A.md");
    await go("deny", await pending(), "--reason", "not b");
    await go("approve", await pending(), "--session");
    await go("answer", await pending(), "search only in src/utils");
    expect(await box.chat(["--resume", box.session().id, "once more"])).toMatchObject({ code: 0, stdout: "and again\n" });
    expect(box.session().metadata.status).toBe("completed");
    expect(await replay(box)).toMatchObject({ code: 0, divergences: 0, calls: box.requests.length, turns: 7, questions: expect.any(Number) });
    // A gate that is gone is a difference, although every request is the same.
    edit(join(box.home, ".config/crucible/agents/writer.md"), "requires_approval: [write_file]\n", "");
    expect(await replay(box)).toMatchObject({ code: 1, divergence: { kind: "question", agent: "writer" } });
  });

  it("what a person asked back before deciding replays too, and is compared", async () => {
    const home = definition("writer", "requires_approval: [write_file]\n", "[FilesystemWrite]");
    const box = await chatMachine(
      rules(
        { match: { last_user: "Before deciding, the user asks: why a?" }, replies: [{ text: "Because of a." }] },
        { match: { last_user: "Before deciding, the user asks: and how?" }, replies: [{ text: "Like this." }] },
        rule("PROMPT-OF-writer", call("write_file", { path: "a.md", content: "1" }, "w1"), { text: "written" }),
        rule("", call("spawn_agent", { agent: "writer", task: "write it" }, "s"), { text: "done" }),
      ),
      { home },
    );
    expect((await box.chat(["go"])).code).toBe(4);
    const { id } = box.session();
    const [item = ""] = box.session().events.flatMap((e) => (e.type === "inbox.opened" ? [e.id] : []));
    for (const text of ["why a?", "and how?"]) {
      await box.cru(["inbox", "ask", item, text]);
      expect((await box.chat(["--resume", id])).code).toBe(4);
    }
    await box.cru(["inbox", "approve", item]);
    expect((await box.chat(["--resume", id])).code).toBe(0);
    expect(box.session().events.filter((e) => e.type === "inbox.context")).toHaveLength(2);
    expect(await replay(box)).toMatchObject({ code: 0, divergences: 0, calls: box.requests.length, recorded_calls: box.requests.length, turns: 4 });
    // The third turn's only call, after the primary's first, the writer's first and "why a?".
    edit(events(box), '"question":"and how?"', '"question":"and when?"');
    expect(await replay(box)).toMatchObject({ code: 1, divergence: { call: 4, turn: 3, agent: "writer", kind: "request", changes: [{ what: "messages", diff: expect.stringContaining("+Before deciding, the user asks: and when?") }] } });
  });

  it("turns that the user stopped end at the same place: in a model's reply, with agents at work and in line, in a tool, at a question", async () => {
    const home = { ...definition("slow"), ...definition("quick"), ...definition("gated", "requires_approval: [read_file]\n") };
    const never = new Promise<never>(() => {});
    let more = 0;
    const spawns = (...names: string[]): object => ({ tools: names.map((agent, i) => ({ name: "spawn_agent", input: { agent, task: `task ${i}` }, id: `s${i}` })) });
    const box = await chatMachine(
      {
        rules: [
          { match: { system: "PROMPT-OF-slow" }, replies: () => never },
          { match: { last_user: "are you there" }, replies: [{ text: "Still here." }] },
          // Far into its work when it is stopped, while the other one waits for its first reply.
          { match: { system: "PROMPT-OF-quick" }, replies: (r) => (r.turns < 4 ? (read(`src/f${r.turns}.js`, `q${r.turns}`) as never) : ((more += 1), never)) },
          { match: { system: "PROMPT-OF-gated" }, replies: () => read("src/f1.js", "g") as never },
          { match: { last_user: "stop the tool" }, replies: [{ tools: [{ name: "run_command", input: { command: "touch started; sleep 600" }, id: "c" }, { name: "read_file", input: { path: "src/f2.js" }, id: "after" }] }] },
          { match: { last_user: "stop the question" }, replies: [spawns("gated") as never] },
          { match: { last_user: "stop the reply" }, replies: () => never },
          { match: {}, replies: [spawns("slow", "quick", "slow", "quick") as never] },
        ],
      },
      { home: { ...home, ".config/crucible/config.yaml": "queue: {max_concurrent: 2}\n" }, project: FILES },
    );
    const stops: [string, () => boolean][] = [
      ["stop the agents", () => more === 1],
      ["stop the tool", () => existsSync(join(box.project, "started"))],
      ["stop the question", () => box.session().metadata.status === "waiting"],
      ["stop the reply", () => box.requests.at(-1)?.users.at(-1)?.includes("stop the reply") === true],
    ];
    for (const [message, ready] of stops) {
      const resume = message === "stop the agents" ? [] : ["--resume", box.session().id];
      const child = spawn(process.execPath, [join(repository, "dist/main.js"), "chat", "--plain", ...resume, message], { cwd: box.project, env: { PATH: process.env.PATH, HOME: box.home, ...box.env }, stdio: ["pipe", "pipe", "inherit"] });
      let shown = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
      await until(() => ready());
      child.kill("SIGINT");
      // What earlier turns left is shown too; only a stop of this process asks what to do.
      await until(() => shown.includes("■ stopped; what should it do instead?"));
      child.stdin.end();
      await new Promise((resolve) => child.on("close", resolve));
    }
    expect((await box.chat(["--resume", box.session().id, "are you there?"])).stdout).toContain("Still here.");
    const recorded = box.session().events;
    expect(recorded.filter((e) => e.type === "session.stopped").map((e) => e.reason)).toEqual(["user", "user", "user", "user"]);
    const calls = recorded.filter((e) => e.type === "model.request").length;
    expect(await replay(box)).toMatchObject({ code: 0, divergences: 0, turns: 5, calls, recorded_calls: calls });
  });

  it("a turn that its time limit stopped ends at the same place", async () => {
    const box = await chatMachine({ rules: [{ match: { last_user: "export" }, replies: () => new Promise<never>(() => {}) }, { match: {}, replies: [read("src/f1.js", "r") as never] }] }, { project: FILES });
    expect((await box.chat(["go on for ever"], { env: { CRU_LIMITS_TIME: "3s" } })).code).toBe(1);
    expect(box.session().events.filter((e) => e.type === "session.stopped")).toMatchObject([{ reason: "time" }]);
    const calls = box.session().events.filter((e) => e.type === "model.request").length;
    expect(await replay(box)).toMatchObject({ code: 0, divergences: 0, calls, recorded_calls: calls });
  });

  it("secrets are kept out of the recording and do not stand in the way, not even where texts are cut", async () => {
    const secret = "hunter2-hunter2-hunter2";
    const project = { "env.txt": `token ${secret} end\n`, ...Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`big${n}.txt`, Array.from({ length: 900 }, (_, i) => `line ${n}.${i} ${secret}\n`).join("")])) };
    const box = await chatMachine(rules({ match: {}, replies: [read("env.txt", "r"), ...Array.from({ length: 8 }, (_, i) => read(`big${i}.txt`, `b${i}`)), { text: `it is ${secret}` }] }), { project });
    const env = { DEPLOY_TOKEN: secret, CRU_LOOP_WINDOW_TOKENS: "8000" };
    expect((await box.chat([`what is ${secret}?`], { env })).stdout).toContain("it is");
    expect(box.session().events.some((e) => e.type === "agent.compacted")).toBe(true);
    expect(readFileSync(events(box), "utf8")).not.toContain(secret);
    expect(await replay(box)).toMatchObject({ code: 0, divergences: 0, calls: box.requests.length });
  });

  it("a killed session replays up to where its recording ends", async () => {
    const box = await chatMachine(THIRTY, { home: HOME, project: FILES });
    await box.chat(["write them all"]);
    const lines = readFileSync(events(box), "utf8").trimEnd().split("\n");
    const whole = box.session().folder;
    for (const [n, part] of [0.15, 0.4, 0.65, 0.9].entries()) {
      const cut = Math.floor(lines.length * part);
      const id = `2026-01-0${n + 1}-cut`;
      const folder = join(whole, "..", id);
      cpSync(whole, folder, { recursive: true });
      writeFileSync(join(folder, "events.jsonl"), `${lines.slice(0, cut).join("\n")}\n`);
      const recorded = lines.slice(0, cut).filter((line) => line.includes('"type":"model.request"')).length;
      expect(await replay(box, id)).toMatchObject({ code: 0, divergences: 0, calls: recorded, recorded_calls: recorded });
    }
  });

  it("a session that failed or came to its limits replays to the same end", async () => {
    const failing = await chatMachine(rules(rule("", read("a.txt", "r1"), { error: { status: 400, message: "no" } })), { project: { "a.txt": "a\n" } });
    expect((await failing.chat(["go"])).code).toBe(1);
    expect(await replay(failing)).toMatchObject({ code: 0, divergences: 0, calls: 2 });
    const limited = await chatMachine(rules(rule("", read("a.txt", "r1"), read("b.txt", "r2"), { text: "never" })), { project: { "a.txt": "a\n", "b.txt": "b\n" } });
    expect((await limited.chat(["go", "--max-iterations", "2"])).code).toBe(4);
    expect(await replay(limited)).toMatchObject({ code: 0, divergences: 0, calls: 2, results: 2 });
  });

  it("what cannot be replayed says so", async () => {
    const box = await chatMachine(rules(rule("", { text: "hello" })));
    await box.chat(["hi"]);
    expect(await replay(box, "2020-01-01-nothing")).toMatchObject({ code: 2 });
    edit(events(box), '"recording":1', '"recording":99');
    const newer = await replay(box);
    expect([newer.code, newer.stderr]).toEqual([1, expect.stringContaining("newer Crucible (recording 99")]);
    writeFileSync(events(box), readFileSync(events(box), "utf8").split("\n").filter((l) => !l.includes('"session.turn"')).join("\n"));
    expect((await replay(box)).stderr).toContain("nothing that can be replayed");
  });
});
