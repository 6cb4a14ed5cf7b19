import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runAcp } from "../support/acp.ts";
import { done, ofType, stage } from "../support/claude.ts";
import { answered } from "../support/loop.ts";
import { describeClaude } from "../support/peers.ts";
import { quirk } from "../support/quirky.ts";
import { describeSandboxed } from "../support/sandbox.ts";

const bash = (command: string) => ({ tools: [{ name: "Bash", input: { command, description: "run it" } }] });

describeSandboxed("forms of an ACP agent", () => {
  const form = (properties: string, more = "mode: 'form', message: 'Set it up'") => `finish(JSON.stringify((await ask('elicitation/create', { ${more}, requestedSchema: { type: 'object', properties: ${properties} } })).result))`;

  it("become one question for each field; what is none of the options goes where free text goes", async () => {
    const run = await quirk(
      form(`{ db: { type: 'string', title: 'Database', oneOf: [{ const: 'sq', title: 'SQLite', description: 'one file' }, { const: 'pg', title: 'Postgres' }] }, db_custom: { type: 'string' },
        tools: { type: 'array', title: 'Tools', items: { anyOf: [{ const: 'a', title: 'A' }, { const: 'b', title: 'B' }] } }, tools_custom: { type: 'string' },
        color: { type: 'string', enum: ['red', 'blue'] }, color_custom: { type: 'string' }, sure: { type: 'boolean' }, count: { type: 'integer' }, note: { type: 'string', description: 'Anything else?' } }`),
      { answer: async (q) => answered(({ Database: "postgres", Tools: "B, a, own" } as Record<string, string>)[q.title.split(": ")[1] ?? ""] ?? (q.options.includes("red") ? "green" : q.options.includes("yes") ? "no" : q.title.includes("Anything") ? "words" : "7")) },
    );
    expect(run.asked.map((q) => [q.kind, q.title, q.options, q.category])).toEqual([
      ["question", "Set it up: Database", ["SQLite", "Postgres"], "choice"], ["question", "Set it up: Tools", ["A", "B"], "choice"], ["question", "Set it up", ["red", "blue"], "choice"],
      ["question", "Set it up", ["yes", "no"], "choice"], ["question", "Set it up", [], "open"], ["question", "Set it up: Anything else?", [], "open"],
    ]);
    expect(run.asked[0]?.body).toContain("SQLite: one file");
    expect(JSON.parse(run.outcome.output?.summary ?? "")).toEqual({ action: "accept", content: { db: "pg", tools: ["b", "a"], tools_custom: "own", color_custom: "green", sure: false, count: 7, note: "words" } });
  });

  it("are declined when a person declines, and when they are no forms", async () => {
    expect((await quirk(form("{ a: { type: 'string' } }"), { answer: async () => answered("", "deny") })).outcome.output?.summary).toBe('{"action":"decline"}');
    const url = await quirk(form("{}", "mode: 'url', url: 'https://example.invalid', message: 'Log in'"));
    expect([url.outcome.output?.summary, url.asked]).toEqual(['{"action":"decline"}', []]);
  });
});

describeClaude("questions of the real Claude CLI through ACP", () => {
  it("[EXE-3.1.2] [EXE-3.2.1] [EXE-3.2.2] a question comes with its options; the answer goes in and the agent goes on", async () => {
    const question = { question: "Which database should I use?", header: "Database", options: [{ label: "SQLite", description: "one file" }, { label: "Postgres", description: "a server" }], multiSelect: false };
    const run = await runAcp([{ tools: [{ name: "AskUserQuestion", input: { questions: [question] } }] }, { text: done("took Postgres") }], { answer: async () => answered("Postgres") });
    expect(run.asked).toMatchObject([{ kind: "question", title: question.question, options: ["SQLite", "Postgres"], category: "choice" }]);
    expect(run.requests[1]?.users.at(-1)).toContain('"Which database should I use?"="Postgres"');
    expect(run.outcome).toMatchObject({ status: "completed", output: { summary: "took Postgres" } });
  });

  it("[EXE-3.3.2] what must be asked about is, also where the CLI would let it pass; Allow All needs no second question and is written nowhere", async () => {
    const at = stage();
    const run = await runAcp([bash("ls"), bash("echo 2 > all.txt"), { text: done() }], { at, request: { requiresApproval: ["Shell"] }, answer: async () => answered("Allow All", "approve") });
    expect(run.asked.map((q) => [q.kind, q.title])).toEqual([["permission", "Bash: ls"]]);
    expect(readFileSync(join(at.worktree, "all.txt"), "utf8")).toBe("2\n");
    expect([join(at.worktree, ".claude"), join(at.checkout, ".claude"), join(at.home, ".claude"), join(at.home, ".config")].filter(existsSync)).toEqual([]);
    expect(run.outcome.status).toBe("completed");
  });

  it("a permission that is denied: nothing runs, the agent hears why, and an agent that gives up for it ends as denied", async () => {
    const run = await runAcp([bash("touch denied.txt"), { text: done("no", { success: false, error: "refused" }) }, { text: done("could not", { success: false, error: "not allowed" }) }], {
      request: { requiresApproval: ["run_command"] }, answer: async () => answered("use pnpm instead", "deny"),
    });
    expect(existsSync(join(run.at.worktree, "denied.txt"))).toBe(false);
    expect(run.asked).toHaveLength(1);
    expect(run.requests[2]?.users.at(-1)).toContain("Not allowed: Bash: touch denied.txt (use pnpm instead).");
    expect(run.outcome).toMatchObject({ status: "denied", reason: "denied", denials: [{ action: "Bash: touch denied.txt", reason: "use pnpm instead" }] });
  });

  it("[EXE-3.1.1] a question in plain words at the end of a turn is answered with the next message", async () => {
    const run = await runAcp([{ text: "I found two ways.\n\nWhich one shall I take?\n1. Rewrite it\n2. Patch it" }, { text: done("patched") }], { answer: async () => answered("Patch it") });
    expect(run.asked).toMatchObject([{ kind: "question", category: "choice", title: "Which one shall I take?", options: ["Rewrite it", "Patch it"] }]);
    expect(run.requests[1]?.users.at(-1)).toContain("Patch it");
    expect(run.outcome.output?.summary).toBe("patched");
  });

  it("where nobody can be waited for, the run ends blocked with the question, and goes on with the answer after a resume", async () => {
    const at = stage();
    const request = { requiresApproval: ["Shell"] };
    const first = await runAcp([bash("touch later.txt"), { text: done() }], { at, request, answer: async () => ({ kind: "suspended", inboxId: "q1" }) });
    expect(first.outcome).toMatchObject({ status: "blocked", reason: "suspended", inboxId: "q1" });
    expect(existsSync(join(at.worktree, "later.txt"))).toBe(false);
    const second = await runAcp((r) => (r.users.at(-1)?.includes("You were interrupted") === true ? bash("touch later.txt") : { text: done() }), { at, request: { ...request, resume: true }, answer: async () => answered("", "approve") });
    expect(second.asked.map((q) => q.key)).toEqual(first.asked.map((q) => q.key));
    expect(ofType(second.events, "agent.process")).toMatchObject([{ resumed: true, external_session: ofType(first.events, "agent.process")[0]?.external_session }]);
    expect(existsSync(join(at.worktree, "later.txt"))).toBe(true);
    expect(second.outcome.status).toBe("completed");
  });
});
