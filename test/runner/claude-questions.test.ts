import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { done, ofType, runClaude, stage } from "../support/claude.ts";
import { answered } from "../support/loop.ts";
import { describeClaude } from "../support/peers.ts";

const bash = (command: string) => ({ tools: [{ name: "Bash", input: { command, description: "run it" } }] });
const QUESTION = { question: "Which database should I use?", header: "Database", options: [{ label: "SQLite", description: "one file" }, { label: "Postgres", description: "a server" }], multiSelect: false };

describeClaude("questions of the real Claude CLI", () => {
  it("[EXE-3.1.2] [EXE-3.1.3] [EXE-3.2.1] [EXE-3.2.2] a question comes with its options; the answer goes in and the agent goes on", async () => {
    const run = await runClaude([{ tools: [{ name: "AskUserQuestion", input: { questions: [QUESTION] } }] }, { text: done("took Postgres") }], { answer: async () => answered("Postgres") });
    expect(run.asked).toMatchObject([{ kind: "question", title: QUESTION.question, options: ["SQLite", "Postgres"], category: "choice" }]);
    expect(run.asked[0]?.body).toContain("Postgres: a server");
    expect(run.requests[1]?.users.at(-1)).toContain('"Which database should I use?"="Postgres"');
    expect(ofType(run.events, "agent.status").map((e) => e.status)).toContain("waiting");
    expect(run.outcome).toMatchObject({ status: "completed", output: { summary: "took Postgres" } });
  });

  it("[EXE-3.3.1] [EXE-3.3.2] a permission that is allowed: the command runs, changed as the person wished", async () => {
    const run = await runClaude([bash("echo one > asked.txt"), bash("echo two >> asked.txt"), { text: done() }], {
      request: { requiresApproval: ["Shell"] },
      answer: async (question) => {
        const asked = answered("", "approve");
        if (asked.kind === "answered" && JSON.stringify(question.action).includes("one")) asked.answer.set = { command: "echo changed > asked.txt" };
        return asked;
      },
    });
    expect(run.asked.map((q) => [q.kind, q.options, q.title])).toEqual([
      ["permission", ["Allow", "Deny", "Allow All"], "Bash: echo one > asked.txt"],
      ["permission", ["Allow", "Deny", "Allow All"], "Bash: echo two >> asked.txt"],
    ]);
    expect(readFileSync(join(run.at.worktree, "asked.txt"), "utf8")).toBe("changed\ntwo\n");
    expect(run.outcome.status).toBe("completed");
  });

  it("a permission that is denied: nothing runs, the agent hears why, and an agent that gives up for it ends as denied", async () => {
    const run = await runClaude([bash("touch denied.txt"), { text: done("could not", { success: false, error: "not allowed" }) }], {
      request: { requiresApproval: ["run_command"] }, answer: async () => answered("use pnpm instead", "deny"),
    });
    expect(existsSync(join(run.at.worktree, "denied.txt"))).toBe(false);
    expect(run.requests[1]?.users.at(-1)).toContain("use pnpm instead");
    expect(run.outcome).toMatchObject({ status: "denied", reason: "denied", denials: [{ action: "Bash: touch denied.txt", reason: "use pnpm instead" }] });
  });

  it("Allow All holds for this tool and this session only, and is written nowhere", async () => {
    const at = stage();
    const script = [bash("echo 1 >> all.txt"), bash("echo 2 >> all.txt"), { tools: [{ name: "Write", input: { file_path: join(at.worktree, "w.txt"), content: "x" } }] }, { text: done() }];
    const options = { at, request: { requiresApproval: ["Bash", "FilesystemWrite"] }, answer: async () => answered("Allow All", "approve") };
    const run = await runClaude(script, options);
    expect(run.asked.map((q) => q.title)).toEqual(["Bash: echo 1 >> all.txt", `Write: ${join(at.worktree, "w.txt")}`]);
    expect(readFileSync(join(at.worktree, "all.txt"), "utf8")).toBe("1\n2\n");
    expect([join(at.worktree, ".claude"), join(at.checkout, ".claude"), join(at.home, ".claude"), join(at.home, ".config")].filter(existsSync)).toEqual([]);
    expect((await runClaude(script, options)).asked).toHaveLength(2);
  });

  it("what the CLI lets pass by itself asks too when the agent must ask for it", async () => {
    const run = await runClaude([bash("ls"), { text: done("x", { success: false }) }], { request: { requiresApproval: ["Bash"] }, answer: async () => answered("no", "deny") });
    expect(run.asked.map((q) => q.title)).toEqual(["Bash: ls"]);
    expect(ofType(run.events, "agent.tool_result").map((e) => e.ok)).toEqual([false]);
  });

  it("[EXE-2.2.3] [EXE-3.1.1] a question in plain words at the end of a turn is answered with the next message", async () => {
    const run = await runClaude([{ text: "I found two ways.\n\nWhich one shall I take?\n1. Rewrite it\n2. Patch it" }, { text: done("patched") }], { answer: async () => answered("Patch it") });
    expect(run.asked).toMatchObject([{ kind: "question", category: "choice", title: "Which one shall I take?", options: ["Rewrite it", "Patch it"] }]);
    expect(run.requests[1]?.users.at(-1)).toContain("Patch it");
    expect(run.outcome.output?.summary).toBe("patched");
  });

  it("where nobody can be waited for, the run ends blocked with the question, and goes on with the answer after a resume", async () => {
    const at = stage();
    const script = { rules: [{ match: {}, by: "turn" as const, replies: [bash("touch later.txt"), { text: done() }, { text: done() }] }] };
    const request = { requiresApproval: ["Shell"] };
    const first = await runClaude(script, { at, request, answer: async () => ({ kind: "suspended", inboxId: "q1" }) });
    expect(first.outcome).toMatchObject({ status: "blocked", reason: "suspended", inboxId: "q1" });
    expect(existsSync(join(at.worktree, "later.txt"))).toBe(false);
    const second = await runClaude((r) => (r.users.at(-1)?.includes("interrupted") === true ? bash("touch later.txt") : { text: done() }), { at, request: { ...request, resume: true }, answer: async () => answered("", "approve") });
    expect(second.asked.map((q) => q.key)).toEqual(first.asked.map((q) => q.key));
    expect(existsSync(join(at.worktree, "later.txt"))).toBe(true);
    expect(second.outcome.status).toBe("completed");
  });

  it("a question that is open when the run is stopped ends with it", async () => {
    const signals: AbortSignal[] = [];
    const stop = new AbortController();
    const run = await runClaude([bash("touch x"), { text: done() }], {
      request: { requiresApproval: ["Shell"] }, signal: stop.signal,
      answer: (question) =>
        new Promise((resolve) => {
          if (question.signal !== undefined) signals.push(question.signal);
          question.signal?.addEventListener("abort", () => resolve(answered("", "deny")));
          stop.abort();
        }),
    });
    expect(signals.map((s) => s.aborted)).toEqual([true]);
    expect(run.outcome.status).toBe("cancelled");
  });
});
