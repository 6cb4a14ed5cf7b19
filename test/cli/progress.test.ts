import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { NewEvent } from "../../src/contract/event.ts";
import { progressPrinter } from "../../src/cli/progress.ts";
import type { Script } from "../../src/scripted/script.ts";
import { type ChatMachine, chatMachine } from "../support/chat.ts";
import { repository } from "../support/cru.ts";
import { agentIn, held } from "../support/live-chat.ts";

const spawns = (...tasks: string[]): object => ({ tools: tasks.map((task) => ({ name: "spawn_agent", input: { agent: "reader", task }, id: task })) });

/** A primary that starts `reader` once for each task. */
const family = (reader: unknown, ...tasks: string[]): Script =>
  ({ rules: [{ match: { system: "PROMPT-OF-reader" }, replies: reader }, { match: {}, by: "turn", replies: [spawns(...tasks), { text: "all done" }] }] }) as Script;

function start(box: ChatMachine, env: Record<string, string> = {}): ReturnType<typeof spawn> {
  return spawn(process.execPath, [join(repository, "dist", "main.js"), "chat", "-p", "go"], {
    cwd: box.project, stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env.PATH, HOME: box.home, NO_COLOR: "1", ...box.env, ...env },
  });
}

describe("progress of subagents", () => {
  it("[CRU-8.4.1] an update is on the screen at once: nothing else has to happen before it can be read", async () => {
    const reply = held({ text: "read it" });
    const box = await chatMachine(family(() => reply.wait, "look"), { home: agentIn("reader") });
    const chat = start(box);
    // The subagent's model answers only when its start was read here.
    await new Promise<void>((seen) => {
      let text = "";
      chat.stderr?.setEncoding("utf8").on("data", (more: string) => {
        text += more;
        if (text.includes("→ Running reader agent...\n")) seen();
      });
    });
    reply.release();
    expect(await once(chat, "close")).toEqual([0, null]);
  });

  it("[CRU-8.4.1] [CRU-8.4.2] each event is written out before the agent that told it goes on", () => {
    const written: string[] = [];
    const printer = progressPrinter({ err: (text: string) => void written.push(text), errIsTerminal: false } as never, { verbose: false });
    const events: NewEvent[] = [
      { type: "agent.started", span_id: "b", agent: "reader", task: "t", model: "m", model_source: "default", runner: "model", depth: 1, permissions: [], parent_span_id: "a", parent_chain: [], definition_hash: "" },
      { type: "agent.completed", span_id: "b", agent: "reader", status: "completed", summary: "read it", duration_ms: 1, tokens: { input: 0, output: 0 }, cost_usd: 0, error: null },
    ];
    for (const [i, event] of events.entries()) {
      // No promise: there is nothing that an agent could wait for.
      expect(printer.event(event)).toBeUndefined();
      expect(written).toHaveLength(i + 1);
    }
    expect(written).toEqual(["→ Running reader agent...\n", "  read it\n"]);
  });

  it("[CRU-8.4.2] a screen that nobody looks at does not hold the primary up", async () => {
    const box = await chatMachine(family([{ text: "read it" }], "look"), { home: agentIn("reader") });
    const chat = start(box);
    const [code] = (await once(chat, "exit")) as [number];
    expect(code).toBe(0);
    const { metadata } = box.session();
    expect(metadata).toMatchObject({ status: "completed", trace: [{ agent: "primary" }, { agent: "reader", status: "completed" }] });
  });

  it("[CRU-8.4.3] updates of agents that work at the same time are whole lines, none is lost", async () => {
    const tasks = ["one", "two", "three", "four"];
    const together = held({ text: "read it" });
    let calls = 0;
    const box = await chatMachine(family(() => {
      if (++calls === tasks.length) together.release();
      return together.wait;
    }, ...tasks), { home: agentIn("reader") });
    const { code, stderr } = await box.chat(["go"], { env: { CRU_QUEUE_MAX_CONCURRENT: "4" } });
    expect(code).toBe(0);
    const lines = stderr.split("\n").filter((line) => line !== "" && !/^(?:session|warning:) /.test(line));
    expect(lines.toSorted()).toEqual([...tasks.map(() => "  read it"), ...tasks.map(() => "→ Running reader agent...")]);
  });
});
