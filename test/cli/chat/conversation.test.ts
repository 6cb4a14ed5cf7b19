import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ScriptedReply } from "../../../src/scripted/script.ts";
import { agentIn, held, IDLE, liveChat } from "../../support/live-chat.ts";
import { until } from "../../support/processes.ts";
import { masked, NO_TMUX, TERMINAL_TIMEOUT } from "../../support/tmux.ts";

const ANSWER = `## What I found

Three usages of \`parse\`, **all in src**:

- \`src/a.ts\`, where the text is read and every line of it is handed on to the parser
- \`src/b.ts\`

\`\`\`ts
// the one that matters
const parsed = parse("text", 42);
\`\`\`

| file | uses |
|---|---|
| a.ts | 2 |
| b.ts | 1 |
`;

async function screenshot(screen: string, name: string): Promise<void> {
  await expect(`${masked(screen)}\n`).toMatchFileSnapshot(`screens/${name}.txt`);
}

describe.skipIf(NO_TMUX !== undefined)("a conversation on a terminal", { timeout: TERMINAL_TIMEOUT }, () => {
  it("streams markdown, lists, tables and highlighted code", async () => {
    const { window, say } = await liveChat([{ text: ANSWER, chunk_ms: 1 }]);
    await screenshot(window.screen(), "start");
    say("where is parse used?");
    await window.see("b.ts  1", IDLE);
    await screenshot(window.screen(), "answer");
    expect(window.raw()).toContain("\u001b[35mconst\u001b[39m");
  });

  it("[CRU-13.2.1] [CRU-13.2.2] [CRU-13.2.3] shows subagents at work, their summaries, the plan, the synthesis, and where the details are", async () => {
    const scout = held<ScriptedReply>({ text: "Details.\n\n## Summary\n\nThree usages, all in src." });
    const plan = (status: string) => ({ name: "update_plan", input: { tasks: [{ id: "1", description: "Find the usages", status }, { id: "2", description: "Say what to do", depends_on: ["1"] }] } });
    const { box, window, say } = await liveChat(
      {
        rules: [
          { match: { system: "PROMPT-OF-scout" }, replies: () => scout.wait },
          {
            match: {},
            by: "call",
            replies: [
              { text: "I will look first.", tools: [plan("in_progress"), { name: "spawn_agent", input: { agent: "scout", task: "find parse" }, id: "s" }] },
              { tools: [plan("done"), { name: "get_agent", input: { name: "scout" }, id: "g" }] },
              { text: "There are **three** usages; rename them one by one." },
            ],
          },
        ],
      },
      { files: { home: agentIn("scout") } },
    );
    say("look at parse");
    await screenshot(await window.see("→ Running scout agent...", "1 agent at work", "Find the usages", /└─ . scout {2}find parse +thinking/), "agents");
    scout.release();
    const done = await window.see("rename them one by one", "Plan  1 of 2 done", IDLE);
    await screenshot(done, "synthesis");
    expect(done).toMatch(/^ {2}Three usages, all in src\.$/m);
    const [, file = ""] = /(scout-[0-9a-f]+\.md)/.exec(done) ?? [];
    expect(existsSync(join(box.session().folder, file))).toBe(true);
    window.press("C-o");
    await screenshot(await window.see("get_agent 2 of 2", "name: scout", "Esc close"), "call-opened");
    window.press("Left");
    await window.see("spawn_agent 1 of 2");
    window.press("Escape");
    await window.see(IDLE);
    window.type("/trace");
    window.press("Enter");
    await window.see("[primary]", "└─ [scout]");
    window.type("/cost");
    window.press("Enter");
    await window.see(/scout {4}[\d,]+ in/, "of $10.00");
    window.press("C-d");
    expect(await window.ended()).toBe(0);
    expect(box.session().metadata.status).toBe("completed");
  });

  it("[PAOR-5.1.1] [PAOR-5.2.1] what is typed while it works goes into the next step, and the next plan shows it", async () => {
    const first = held<ScriptedReply>({ text: "Searching everywhere.", tools: [{ name: "get_agent", input: { name: "nobody" }, id: "g" }] });
    const { box, window, say } = await liveChat({
      rules: [
        {
          match: { any_user: "search only in src/utils" },
          by: "call",
          replies: [{ tools: [{ name: "update_plan", input: { tasks: [{ id: "1", description: "Search in src/utils only", status: "in_progress" }] } }] }, { text: "Nothing in src/utils." }],
        },
        { match: {}, replies: () => first.wait },
      ],
    });
    say("find the config reader");
    await until(() => box.requests.length === 1);
    say("search only in src/utils");
    await screenshot(await window.see("↳ search only in src/utils  waits for the next step"), "steering");
    first.release();
    await screenshot(await window.see("▸ Search in src/utils only", "Nothing in src/utils.", IDLE), "steered");
    expect(window.screen()).toMatch(/^ {2}↳ search only in src\/utils$/m);
    expect(box.session().events.filter((e) => e.type === "session.guidance")).toMatchObject([{ text: "search only in src/utils" }]);
  });

  it("what is said too late to steer is the next message", async () => {
    const first = held<ScriptedReply>({ text: "The first answer." });
    const { box, window, say } = await liveChat({ rules: [{ match: { last_user: "and then this" }, replies: [{ text: "The second answer." }] }, { match: {}, replies: () => first.wait }] });
    say("first");
    await until(() => box.requests.length === 1);
    say("and then this");
    await window.see("waits for the next step");
    first.release();
    await window.see("The first answer.", "› and then this", "The second answer.", IDLE);
    expect(box.sessions()).toHaveLength(1);
    expect(box.requests.at(-1)?.users).toEqual(["first", "and then this"]);
  });

  it("Esc stops the work and the conversation goes on", async () => {
    const never = held<ScriptedReply>({ text: "never" });
    const { box, window, say } = await liveChat({ rules: [{ match: { last_user: "instead" }, replies: [{ text: "Did the other thing." }] }, { match: {}, replies: () => never.wait }] });
    say("do something long");
    await window.see("thinking");
    window.press("Escape");
    await screenshot(await window.see("■ stopped", IDLE), "stopped");
    say("do this instead");
    await window.see("Did the other thing.", IDLE);
    never.release();
    window.press("C-d");
    expect(await window.ended()).toBe(0);
    const { metadata, events } = box.session();
    expect(metadata.status).toBe("completed");
    expect(events.filter((e) => e.type === "agent.completed").map((e) => e.status)).toEqual(["interrupted", "completed"]);
  });

  it("many agents at once: who is about what, who is in line; Esc stops them all and starts none", async () => {
    const never = held<ScriptedReply>({ text: "never" });
    const { box, window, say } = await liveChat(
      {
        rules: [
          { match: { system: "PROMPT-OF-scout" }, replies: () => never.wait },
          { match: {}, replies: [{ text: "All at once.", tools: Array.from({ length: 5 }, (_, i) => ({ name: "spawn_agent", input: { agent: "scout", task: `look at part ${i}` }, id: `s${i}` })) }] },
        ],
      },
      { files: { home: { ...agentIn("scout"), ".config/crucible/config.yaml": "queue: {max_concurrent: 2}\n" } } },
    );
    say("look everywhere");
    await until(() => box.requests.length === 3);
    await screenshot(await window.see("2 agents at work", /scout {2}look at part 0 +thinking/, /scout {2}look at part 1 +thinking/, "3 in line"), "many-agents");
    window.press("Escape");
    await screenshot(await window.see("■ stopped", IDLE), "many-stopped");
    never.release();
    expect(box.session().events.filter((e) => e.type === "agent.started")).toHaveLength(3);
    expect(box.requests).toHaveLength(3);
  });

  it("goes on where a killed process stopped", async () => {
    const first = held<ScriptedReply>({ text: "too late" });
    let calls = 0;
    const { box, window, open, say } = await liveChat({
      rules: [
        { match: { last_user: "agent not found" }, replies: () => (calls++ === 0 ? first.wait : { text: "Finished after all." }) },
        { match: {}, replies: [{ text: "On it.", tools: [{ name: "get_agent", input: { name: "nobody" }, id: "g" }] }] },
      ],
    });
    say("a long task");
    await window.see("✗ get_agent");
    await until(() => calls === 1);
    process.kill(box.session().metadata.owner?.pid ?? 0, "SIGKILL");
    await window.see("ENDED 137");
    first.release();
    const again = open(["--resume", box.session().id]);
    await screenshot(await again.see("› a long task", "On it.", "going on where it stopped", "Finished after all.", IDLE), "resumed");
    again.press("C-d");
    expect(await again.ended()).toBe(0);
    expect(box.requests.filter((r) => r.turns === 0)).toHaveLength(1);
    expect(box.session().metadata.status).toBe("completed");
  });

  it("/model changes the model from the next message on; a name that is wrong changes nothing", async () => {
    const { box, window, say } = await liveChat({ rules: [{ match: {}, by: "call", replies: [{ text: "one" }, { text: "two" }] }] });
    say("first");
    await window.see("one", IDLE);
    say("/model haiku");
    await window.see("claude-haiku", "from the next message on");
    say("/model no such model");
    await window.see("✗");
    say("/plam");
    await window.see("/plan");
    say("second");
    await window.see("two", IDLE);
    expect(box.requests.map((r) => r.model.split("-")[1])).toEqual(["sonnet", "haiku"]);
    say("/exit");
    expect(await window.ended()).toBe(0);
  });
});
