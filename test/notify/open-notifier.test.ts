import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Notice, openNotifier } from "../../src/notify/open-notifier.ts";
import { chatMachine } from "../support/chat.ts";
import { agentIn } from "../support/live-chat.ts";
import { isAlive, until } from "../support/processes.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

const NOTICE: Notice = { event: "done", session_id: "s", status: "completed", inbox_id: null, title: "done", text: "$(touch pwned) `touch pwned`", project: "/p" };

type Heard = Notice & { args: string[]; running?: number };

/** A program of the user's that writes each notice, its arguments and how many subagents are at work then, on a line of its own. */
function command(): { argv: string[]; log: string; heard(): Heard[] } {
  const folder = temporaryFolder();
  const log = join(folder, "log");
  const program = join(folder, "notify.mjs");
  writeFiles(folder, {
    "notify.mjs": `#!${process.execPath}\nimport { appendFileSync, readFileSync } from "node:fs";\nconst notice = JSON.parse(readFileSync(0, "utf8"));\nlet running = -1;\ntry {\n  const events = readFileSync(notice.project + "/.crucible/sessions/" + notice.session_id + "/events.jsonl", "utf8").trimEnd().split("\\n").map((l) => JSON.parse(l));\n  running = events.filter((e) => e.type === "agent.started" && e.depth > 0).length - events.filter((e) => e.type === "agent.completed" && e.file !== undefined).length;\n} catch {}\nappendFileSync(${JSON.stringify(log)}, JSON.stringify({ ...notice, args: process.argv.slice(2), ...(running < 0 ? {} : { running }) }) + "\\n");\n`,
  });
  chmodSync(program, 0o755);
  const heard = () => (existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n").map((l) => JSON.parse(l) as Heard) : []);
  return { argv: [program], log, heard };
}

describe("notifications", () => {
  it("a command gets the event as JSON on stdin and its arguments as they are; no shell reads them", async () => {
    const { argv, heard } = command();
    const warnings: string[] = [];
    const cwd = temporaryFolder();
    const notifier = openNotifier([{ type: "command", command: [...argv, "$HOME", "a b", "; touch pwned"] }], { bell: undefined, env: { PATH: process.env.PATH }, cwd, warn: (w) => warnings.push(w) });
    notifier.notify(NOTICE, "one");
    await notifier.settled();
    expect(heard()).toEqual([{ ...NOTICE, args: ["$HOME", "a b", "; touch pwned"] }]);
    expect(existsSync(join(cwd, "pwned"))).toBe(false);
    expect(warnings).toEqual([]);
  });

  it("tells the same event once", async () => {
    const { argv, heard } = command();
    let rung = 0;
    const notifier = openNotifier([{ type: "bell" }, { type: "command", command: argv }], { bell: () => void rung++, env: { PATH: process.env.PATH }, cwd: temporaryFolder(), warn: () => {} });
    for (const key of ["a", "a", "b", "a"]) notifier.notify(NOTICE, key);
    await notifier.settled();
    expect([rung, heard().length]).toEqual([2, 2]);
  });

  it("a command that is missing, fails or hangs is a warning, and nothing of it is left", async () => {
    const folder = temporaryFolder();
    const warnings: string[] = [];
    const ways = [["/no/such/program"], [process.execPath, "-e", "process.exit(3)"], ["sh", "-c", `echo $$ > ${join(folder, "pid")}; exec sleep 1000`]].map((c) => ({ type: "command" as const, command: c }));
    const notifier = openNotifier(ways, { bell: undefined, env: { PATH: process.env.PATH }, cwd: folder, warn: (w) => warnings.push(w), timeoutMs: 1000 });
    notifier.notify(NOTICE, "x");
    await notifier.settled();
    expect(warnings).toHaveLength(3);
    expect(warnings.join("\n")).toMatch(/ended with 3/);
    expect(warnings.join("\n")).toMatch(/did not end within 1 s/);
    const pid = Number(readFileSync(join(folder, "pid"), "utf8"));
    await until(() => !isAlive(pid));
    expect(isAlive(pid)).toBe(false);
  });
});

describe("notifications of a chat", () => {
  const withCommand = (argv: string[], rest: Record<string, string> = {}) => ({ ...rest, ".config/crucible/config.yaml": `notify:\n  - type: command\n    command: ${JSON.stringify(argv)}\n` });

  it("tells a question once, and the end once, after all children have ended", async () => {
    const { argv, heard } = command();
    const box = await chatMachine(
      {
        rules: [
          { match: { system: "PROMPT-OF-scout" }, replies: [{ text: "one", delay_ms: 300 }, { text: "two" }] },
          {
            match: {},
            by: "turn",
            replies: [
              { tools: [{ name: "spawn_agent", input: { agent: "scout", task: "a" }, id: "a" }, { name: "spawn_agent", input: { agent: "scout", task: "b" }, id: "b" }] },
              { tools: [{ name: "ask_user", input: { question: "Go?" }, id: "q" }] },
              { text: "All done." },
            ],
          },
        ],
      },
      { home: withCommand(argv, agentIn("scout")) },
    );
    expect((await box.chat(["work"])).code).toBe(4);
    const [asked] = heard();
    expect(heard()).toMatchObject([{ event: "question", status: "waiting", title: "Go?", session_id: box.session().id, project: box.project }]);
    await box.cru(["inbox", "answer", asked?.inbox_id ?? "", "yes"]);
    expect((await box.chat(["--resume", box.session().id])).code).toBe(0);
    expect(heard().map((n) => n.event)).toEqual(["question", "done"]);
    expect(heard()[1]).toMatchObject({ status: "completed", text: "All done." });
    expect(box.session().events.filter((e) => e.type === "agent.completed" && e.agent === "scout")).toHaveLength(2);
    expect(heard().map((n) => n.running)).toEqual([0, 0]);
  });

  it("a loop that stops short of its goal is blocked", async () => {
    const { argv, heard } = command();
    const box = await chatMachine((_, i) => ({ tools: [{ name: "get_agent", input: { name: `n${i}` }, id: `g${i}` }] }), { home: withCommand(argv) });
    expect((await box.chat(["work", "--max-iterations", "2"])).code).toBe(4);
    expect(heard().map((n) => [n.event, n.status])).toEqual([["blocked", "blocked"]]);
  });

  it("a project cannot name a command, trusted or not", async () => {
    const { argv, heard } = command();
    const box = await chatMachine([{ text: "hi" }, { text: "hi" }], { project: { ".crucible/config.yaml": `notify:\n  - type: command\n    command: ${JSON.stringify(argv)}\n` } });
    expect((await box.chat(["hello"])).code).toBe(3);
    expect((await box.chat(["hello", "--trust"])).code).toBe(3);
    expect(heard()).toEqual([]);
  });
});
