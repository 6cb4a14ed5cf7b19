import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatMachine, type ChatMachine } from "../support/chat.ts";

type Items = { items: { id: string; kind: string; status: string; title: string }[] };

async function inbox(box: ChatMachine): Promise<Items["items"]> {
  return (JSON.parse((await box.cru(["inbox", "list", "--json"])).stdout) as Items).items;
}

const turns = (...replies: object[]): Parameters<typeof chatMachine>[0] => ({ rules: [{ match: {}, by: "turn", replies }] }) as Parameters<typeof chatMachine>[0];

describe("asking a person without a terminal", () => {
  it("writes the question, saves and exits 4; after the answer --resume goes on with it", async () => {
    const box = await chatMachine(turns({ tools: [{ name: "ask_user", input: { question: "Tabs or spaces?", options: ["tabs", "spaces"] }, id: "q" }] }, { text: "spaces it is" }));
    const first = await box.chat(["format it"]);
    expect(first.code).toBe(4);
    expect(first.stderr).toContain("Tabs or spaces?");
    const [item] = await inbox(box);
    expect(item).toMatchObject({ kind: "question", status: "pending", title: "Tabs or spaces?" });
    expect((await box.cru(["sessions", "list", "--json"])).stdout).toContain('"waiting"');
    const early = await box.chat(["--resume", box.session().id]);
    expect(early.code).toBe(4);
    expect(await inbox(box)).toHaveLength(1);
    expect((await box.cru(["inbox", "answer", item?.id ?? "", "spaces"])).code).toBe(0);
    const resumed = await box.chat(["--resume", box.session().id]);
    expect([resumed.code, resumed.stdout]).toEqual([0, "spaces it is\n"]);
    expect(box.requests.at(-1)?.users.at(-1)).toContain("spaces");
    expect(box.sessions()).toHaveLength(1);
    expect(box.session().metadata.status).toBe("completed");
  });

  it("--wait waits for the answer of another process", async () => {
    const box = await chatMachine(turns({ tools: [{ name: "ask_user", input: { question: "Go?" }, id: "q" }] }, { text: "went" }));
    const running = box.chat(["x", "--wait"]);
    let item: Items["items"][number] | undefined;
    while (item === undefined) [item] = await inbox(box);
    await box.cru(["inbox", "answer", item.id, "yes"]);
    expect(await running).toMatchObject({ code: 0, stdout: "went\n" });
  });

  it("a question of a child stops the whole and goes on inside that child", async () => {
    const home = { ".config/crucible/agents/asker.md": "---\nname: asker\ndescription: asks\npermissions: []\n---\nPROMPT-OF-asker\n" };
    const box = await chatMachine(
      {
        rules: [
          { match: { system: "PROMPT-OF-asker" }, by: "turn", replies: [{ text: "thinking", tools: [{ name: "ask_user", input: { question: "Which colour?" }, id: "q" }] }, { text: "painted it blue" }] },
          { match: {}, by: "turn", replies: [{ tools: [{ name: "spawn_agent", input: { agent: "asker", task: "paint" }, id: "s" }] }, { text: "It is blue now." }] },
        ],
      } as Parameters<typeof chatMachine>[0],
      { home },
    );
    expect((await box.chat(["paint it"])).code).toBe(4);
    const [item] = await inbox(box);
    await box.cru(["inbox", "answer", item?.id ?? "", "blue"]);
    const resumed = await box.chat(["--resume", box.session().id]);
    expect([resumed.code, resumed.stdout]).toEqual([0, "It is blue now.\n"]);
    // The child went on: its first call was not made again.
    expect(box.requests.filter((r) => r.system.includes("PROMPT-OF-asker")).map((r) => r.turns)).toEqual([0, 1]);
    expect(box.session().child("asker").head).toMatchObject({ status: "completed" });
  });

  it("a loop that is stuck asks, and goes on with the alternative", async () => {
    const box = await chatMachine(turns(
      { tools: [{ name: "get_agent", input: { name: "nobody" } }] }, { tools: [{ name: "get_agent", input: { name: "nobody" } }] }, { tools: [{ name: "get_agent", input: { name: "nobody" } }] },
      { text: "took another way" },
    ));
    const first = await box.chat(["x"]);
    expect(first.code).toBe(4);
    const [item] = await inbox(box);
    expect(item).toMatchObject({ kind: "guidance", title: expect.stringContaining("three times with the same result") });
    await box.cru(["inbox", "answer", item?.id ?? "", "try explore instead"]);
    const resumed = await box.chat(["--resume", box.session().id]);
    expect([resumed.code, resumed.stdout]).toEqual([0, "took another way\n"]);
    expect(box.requests.at(-1)?.users.at(-1)).toContain("try explore instead");
  });

  it("[CRU-15.4.1] [CRU-15.4.2] request_approval pauses with action and reason, and resumes after the answer", async () => {
    const box = await chatMachine(turns({ tools: [{ name: "request_approval", input: { action: "drop the old table", reason: "it is empty" }, id: "q" }] }, { text: "dropped" }));
    expect((await box.chat(["clean up"])).code).toBe(4);
    const [item] = await inbox(box);
    const shown = await box.cru(["inbox", "show", item?.id ?? ""]);
    expect(shown.stdout).toContain("drop the old table");
    expect(shown.stdout).toContain("it is empty");
    await box.cru(["inbox", "approve", item?.id ?? ""]);
    const resumed = await box.chat(["--resume", box.session().id]);
    expect([resumed.code, resumed.stdout]).toEqual([0, "dropped\n"]);
    expect(box.requests.at(-1)?.users.at(-1)).toContain("approved");
  });

  it("[CRU-15.4.3] [CRU-15.4.4] silence aborts by default, approves when the user set it so", async () => {
    const script = turns({ tools: [{ name: "request_approval", input: { action: "a", reason: "r" }, id: "q" }] }, { text: "ok" });
    const aborting = await chatMachine(script);
    await aborting.chat(["x", "--wait"], { env: { CRU_APPROVALS_TIMEOUT: "1s" } });
    expect(aborting.requests.at(-1)?.users.at(-1)).toContain("nobody answered in time. Do not do it.");
    expect((await inbox(aborting))[0]).toMatchObject({ status: "expired" });
    const approving = await chatMachine(script);
    await approving.chat(["x", "--wait"], { env: { CRU_APPROVALS_TIMEOUT: "1s", CRU_APPROVALS_ON_TIMEOUT: "approve" } });
    expect(approving.requests.at(-1)?.users.at(-1)).toContain("approved (nobody answered in time)");
  });

  it("the budget pauses before the call that would pass it", async () => {
    const box = await chatMachine(turns({ text: "cheap" }));
    const first = await box.chat(["x", "--budget", "0.0001"]);
    expect([first.code, box.requests.length]).toEqual([4, 0]);
    const [item] = await inbox(box);
    expect(item).toMatchObject({ kind: "budget" });
    await box.cru(["inbox", "deny", item?.id ?? "", "--reason", "too dear"]);
    const resumed = await box.chat(["--resume", box.session().id, "--budget", "0.0001"]);
    expect([resumed.code, box.requests.length]).toEqual([4, 0]);
  });

  it("a finished session takes another message", async () => {
    const box = await chatMachine(turns({ text: "first answer" }, { text: "second answer" }));
    await box.chat(["one"]);
    const again = await box.chat(["--resume", box.session().id, "and two?"]);
    expect([again.code, again.stdout]).toEqual([0, "second answer\n"]);
    expect(box.requests.at(-1)?.users).toEqual(["one", "and two?"]);
  });
});

describe("bad input", () => {
  it.each([
    ["no message", [""], 2, "chat needs a message"],
    ["an unknown agent", ["x", "--agent", "explor"], 2, "did you mean 'explore'?"],
    ["an unknown model", ["x", "--model", "sonet"], 2, "did you mean 'sonnet'?"],
    ["an unknown permission", ["x", "--allow", "Shel"], 2, "did you mean 'Shell'?"],
    ["a budget that is none", ["x", "--budget", "-3"], 2, "--budget takes a number above 0"],
    ["an unknown session", ["--resume", "2020-01-01-x"], 2, "2020-01-01-x"],
    ["an unknown option", ["x", "--modle", "opus"], 2, "--model"],
  ])("%s is told with what to do", async (_, args, code, words) => {
    const box = await chatMachine(() => ({ text: "never" }));
    const done = await box.chat(args);
    expect({ code: done.code, stderr: done.stderr }).toEqual({ code, stderr: expect.stringContaining(words) });
    expect(done.stderr).not.toMatch(/\n\s+at /);
    expect(box.requests).toHaveLength(0);
  });

  it("no provider says exactly what to set", async () => {
    const box = await chatMachine(() => ({ text: "never" }));
    const done = await box.cru(["chat", "-p", "x"]);
    expect([done.code, done.stderr]).toEqual([1, expect.stringContaining("ANTHROPIC_API_KEY")]);
  });
});

describe("what a killed process left", () => {
  it("is recorded by the next chat, whose lock no tool can free", async () => {
    const box = await chatMachine((request) => (request.users[0] === "first" || request.turns > 0 ? { text: "ok" } : { tools: [{ name: "read_file", input: { path: request.users[0] ?? "" }, id: "r" }] }));
    await box.chat(["first"]);
    const { folder, id, metadata } = box.session();
    writeFileSync(join(folder, "metadata.json"), JSON.stringify({ ...metadata, status: "running", completed_at: null, owner: { pid: 2 ** 22 + 1, started: "long ago" } }));
    await box.chat([`.crucible/sessions/${id}/.lock`]);
    expect(box.session(id).metadata).toMatchObject({ status: "interrupted", owner: null });
    const other = box.sessions().find((name) => name !== id);
    expect(box.session(other).events.find((e) => e.type === "agent.tool_result")).toMatchObject({ ok: false, output: expect.stringContaining("lock of Crucible") });
  });
});
