import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeClaude } from "../support/peers.ts";
import { bash, taskMachine, type TaskMachine } from "../support/task.ts";

const chat = (box: TaskMachine, args: string[], env: Record<string, string> = {}) => box.cru(["chat", "-p", ...args], { env: { ...box.env, ...env } });

describeClaude("a chat whose primary is the Claude CLI", () => {
  it("answers, works in the checkout, and goes on with the same conversation", async () => {
    const box = await taskMachine([bash("echo two > a.txt; echo changed-it"), { text: "I changed a.txt." }, { text: "You are welcome." }], { project: { "AGENTS.md": "GUIDE-AGENTS\n" } });
    const first = await chat(box, ["--runner", "claude", "change a.txt"]);
    expect(first).toMatchObject({ code: 0, stdout: "I changed a.txt.\n" });
    expect(readFileSync(join(box.project, "a.txt"), "utf8")).toBe("two\n");
    const { id, metadata } = box.session();
    expect(metadata).toMatchObject({ status: "completed", runner: "claude", process: { version: "2.1.325" }, trace: [{ agent: "primary", status: "completed" }] });
    expect(box.requests[0]?.system).toContain("GUIDE-AGENTS");
    const second = await chat(box, ["--resume", id, "thank you"]);
    expect(second).toMatchObject({ code: 0, stdout: "You are welcome.\n" });
    expect(box.requests.at(-1)?.users.join("\n")).toMatch(/change a\.txt[\s\S]*thank you/);
    expect(box.session(id).metadata.process?.external_session).toBe(metadata.process?.external_session);
    expect(box.session(id).markdown("session.md").body).toMatch(/change a\.txt[\s\S]*I changed a\.txt\.[\s\S]*thank you[\s\S]*You are welcome\./);
    const replay = await box.cru(["sessions", "replay", id], { env: box.env });
    expect(replay.stderr).toContain("was run by claude");
  });

  it("without a key for the model it is taken by itself, when it can log in", async () => {
    const box = await taskMachine([{ text: "Hello from outside." }], { home: { ".claude/.credentials.json": JSON.stringify({ claudeAiOauth: { accessToken: "sk-ant-oat-x" } }) } });
    const ran = await chat(box, ["hello"], { ANTHROPIC_API_KEY: "" });
    expect(ran).toMatchObject({ code: 0, stdout: "Hello from outside.\n" });
    expect(box.session().metadata.runner).toBe("claude");
  });

  it("headless, what must be asked ends with exit 4 and goes on after the answer", async () => {
    const question = { questions: [{ question: "Which one?", header: "One", multiSelect: false, options: [{ label: "left", description: "" }, { label: "right", description: "" }] }] };
    const box = await taskMachine(({ users }) => (/"Which one\?"\s*=\s*"left"/.test(users.join("\n")) ? { text: "Left it is." } : { tools: [{ name: "AskUserQuestion", input: question }] }));
    expect(await chat(box, ["--runner", "claude", "choose"])).toMatchObject({ code: 4 });
    const id = box.session().metadata.waiting[0]?.id ?? "";
    expect(await box.cru(["inbox", "answer", id, "1", "--resume"], { env: box.env })).toMatchObject({ code: 0, stdout: "Left it is.\n" });
  });
});
