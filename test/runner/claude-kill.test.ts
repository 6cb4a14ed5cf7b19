import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { NewEvent } from "../../src/contract/event.ts";
import type { ScriptedReply } from "../../src/scripted/script.ts";
import type { ScriptedRequest } from "../../src/scripted/request.ts";
import { done, KEY, ofType, requestFor, runClaude, stage } from "../support/claude.ts";
import { answered } from "../support/loop.ts";
import { claudePath, describeClaude } from "../support/peers.ts";
import { processesNaming, until } from "../support/processes.ts";
import { program, start } from "../support/program.ts";
import { scripted } from "../support/scripted.ts";

const long = process.env.CRU_TEST_LONG === "1";

/** Says what comes next from the conversation alone, so that a resumed run goes on where it was. */
function next({ users }: ScriptedRequest): ScriptedReply {
  const heard = users.join("\n");
  const bash = (word: string) => ({ thinking: `I need ${word}`, text: `Now ${word}.`, tools: [{ name: "Bash", input: { command: `sleep 0.2; echo ${word} >> log.txt; echo made-${word}`, description: word } }] });
  if (!heard.includes("made-one")) return bash("one");
  return heard.includes("made-two") ? { thinking: "all is there", text: done("both made") } : bash("two");
}

/** The runner in a process that kills itself with SIGKILL at the given event; a question to a person is one too. */
const VICTIM = `
  import { writeSync } from "node:fs";
  import { createClaudeRunner } from "@src/runner/claude/claude-runner.ts";
  const { setup, request, killAt, state } = JSON.parse(process.argv[2]);
  let index = 0;
  const count = (what) => { writeSync(1, JSON.stringify(what) + "\\n"); if (index++ === killAt || what.type === killAt) process.kill(process.pid, "SIGKILL"); };
  const runner = createClaudeRunner({ ...setup, stateFolder: (agent) => state + "/" + agent.spanId });
  await runner.run(request, {
    emit: count, signal: new AbortController().signal,
    ask: async () => { count({ type: "asked" }); return { kind: "answered", answer: { v: 1, id: "i", action_hash: "", status: "answered", decision: "approve", text: "", set: {}, by: "person", answered_at: "" } }; },
  });
  process.exit(0);
`;

describeClaude("an orchestrator that is killed", () => {
  const everywhere = [...Array.from({ length: 19 }, (_, index) => index), "agent.usage"];
  it.each<number | string>(long ? everywhere : ["agent.thinking", "agent.tool_call", "asked", "agent.usage"])("at event %s: the agent dies with it, and the run is resumed to its end", async (killAt) => {
    const at = stage();
    const server = await scripted(next);
    const setup = {
      claude: { command: claudePath, args: [] }, sandbox: { mode: "required", hosts: [] }, allow: [], home: at.home, maxRetries: 1,
      env: { PATH: process.env.PATH, ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: server.url },
    };
    const victim = start(await program(VICTIM), [JSON.stringify({ setup, request: requestFor(at, { requiresApproval: ["Shell"] }), killAt, state: at.state })]);
    await victim.ended;
    const seen = victim.output().trim().split("\n").map((line) => JSON.parse(line) as NewEvent);
    expect(typeof killAt === "number" ? seen.length - 1 : seen.at(-1)?.type).toBe(killAt);
    const session = ofType(seen, "agent.process")[0]?.external_session ?? "";
    expect(session).toMatch(/^[0-9a-f-]{36}$/);
    await until(() => processesNaming(session).length === 0);
    const resumed = await runClaude(next, { at, request: { requiresApproval: ["Shell"], resume: true }, answer: async () => answered("", "approve") });
    expect(resumed.outcome).toMatchObject({ status: "completed", output: { summary: "both made" } });
    expect(ofType(resumed.events, "agent.process").map((e) => e.external_session)).toEqual([session]);
    expect([...new Set(readFileSync(join(at.worktree, "log.txt"), "utf8").trim().split("\n"))]).toEqual(["one", "two"]);
    expect(readdirSync(at.home).toSorted()).toEqual(["canary", "repo"]);
    expect(readdirSync(at.checkout).toSorted()).toEqual([".coven", "canary"]);
  });

  it("a run that is cancelled while a command runs leaves no process and keeps what was done", async () => {
    const stop = new AbortController();
    const at = stage();
    const run = await runClaude([{ tools: [{ name: "Bash", input: { command: "echo begun > begun.txt; (setsid sleep 4321 &) ; for i in $(seq 1 400); do sleep 0.1; done", description: "wait" } }] }], {
      at, signal: stop.signal,
      onEvent: (event) => {
        if (event.type === "agent.tool_call") void until(() => readdirSync(at.worktree).includes("begun.txt")).then(() => stop.abort());
      },
    });
    expect(run.outcome).toMatchObject({ status: "cancelled", reason: "cancelled" });
    expect(run.outcome.costEstimated).toBe(true);
    expect(run.outcome.tokens.input).toBeGreaterThan(0);
    expect(readFileSync(join(at.worktree, "begun.txt"), "utf8")).toBe("begun\n");
    expect(processesNaming("4321")).toEqual([]);
  });
});
