import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ScriptedReply } from "../../src/scripted/script.ts";
import { type ChatMachine, chatMachine } from "../support/chat.ts";
import { repository } from "../support/cru.ts";

const HOME = { ".config/crucible/agents/reader.md": "---\nname: reader\ndescription: reads\npermissions: [FilesystemRead]\n---\nPROMPT-OF-reader\n" };
const start = (task: string): NonNullable<ScriptedReply["tools"]>[number] => ({ name: "spawn_agent", input: { agent: "reader", task }, id: `id-${task}` });

/** The built program, its stderr read only by whoever asks for it. */
function chatting(box: ChatMachine, env: Record<string, string> = {}) {
  return spawn(process.execPath, [join(repository, "dist/main.js"), "chat", "-p", "go"], {
    cwd: box.project,
    env: { PATH: process.env.PATH ?? "", HOME: box.home, ...box.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

describe("progress while subagents work", () => {
  it("[CRU-8.4.1] each update is out before the subagent's model has answered, and nothing holds it back for 100 ms", async () => {
    const seen: { line: string; at: number }[] = [];
    let look = (): void => {};
    const shown = async (count: number): Promise<void> => {
      while (seen.filter(({ line }) => line === "→ Running reader agent...").length < count) await new Promise<void>((resolve) => (look = resolve));
    };
    const COUNT = 10;
    const box = await chatMachine({
      rules: [
        // The child's model stays silent until its start has been read from the pipe: late news would mean that nothing goes on.
        { match: { system: "PROMPT-OF-reader" }, replies: async (_request, call) => (await shown(call + 1), { text: "## Summary\nread" }) },
        { match: {}, by: "turn", replies: [...Array.from({ length: COUNT }, (_, i) => ({ tools: [start(String(i))] })), { text: "done" }] },
      ],
    }, { home: HOME });
    const child = chatting(box);
    let rest = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) seen.push({ line, at: Date.now() });
      look();
    });
    child.stdout.resume();
    expect(await once(child, "close")).toEqual([0, null]);
    const starts = box.session().events.flatMap((e) => (e.type === "agent.started" && e.depth === 1 ? [Date.parse(e.ts)] : []));
    const reads = seen.flatMap(({ line, at }) => (line === "→ Running reader agent..." ? [at] : []));
    expect([starts.length, reads.length]).toEqual([COUNT, COUNT]);
    // A busy machine may delay any one of them; a delay of our own would be in all.
    expect(Math.min(...reads.map((at, i) => at - (starts[i] ?? 0)))).toBeLessThan(100);
  });

  it("[CRU-8.4.2] the agents go on to the end while nobody reads the updates, which are all there afterwards", async () => {
    const COUNT = 12;
    const box = await chatMachine({
      rules: [
        { match: { system: "PROMPT-OF-reader" }, replies: () => ({ text: `## Summary\n${"read and read again ".repeat(20)}` }) },
        { match: {}, by: "turn", replies: [...Array.from({ length: COUNT }, (_, i) => ({ tools: [start(String(i))] })), { text: "done" }] },
      ],
    }, { home: HOME });
    const child = chatting(box);
    const [answer] = await once(child.stdout.setEncoding("utf8"), "data");
    expect([answer, box.requests.length]).toEqual(["done\n", 2 * COUNT + 1]);
    const closed = once(child, "close");
    const updates = (await child.stderr.setEncoding("utf8").toArray()).join("");
    expect(await closed).toEqual([0, null]);
    expect(updates.match(/^→ Running reader agent\.\.\.$/gm)).toHaveLength(COUNT);
    expect(updates.match(/^ {2}read and read again /gm)).toHaveLength(COUNT);
  });

  it("[CRU-8.4.3] with several subagents at once every update is a whole line, said once", async () => {
    const tasks = ["a", "b", "c", "d"];
    let arrived = 0;
    let go = (): void => {};
    const together = new Promise<void>((resolve) => (go = resolve));
    const box = await chatMachine({
      rules: [
        {
          match: { system: "PROMPT-OF-reader" },
          // All four are at work before the first may end.
          async replies(request) {
            if (++arrived === tasks.length) go();
            await together;
            return { text: `## Summary\n${`result of ${request.users[0] ?? ""} `.repeat(6).trim()}` };
          },
        },
        { match: {}, by: "turn", replies: [{ tools: tasks.map(start) }, { text: "done" }] },
      ],
    }, { home: HOME });
    const { code, stderr } = await box.chat(["go"], { env: { CRU_QUEUE_MAX_CONCURRENT: "4" } });
    expect(code).toBe(0);
    const [session, ...updates] = stderr.trimEnd().split("\n");
    expect(session).toMatch(/^session /);
    const ends = tasks.map((task) => expect.stringMatching(new RegExp(`^ {2}(result of ${task} ?)+…?$`)));
    expect(updates).toHaveLength(8);
    expect(updates.slice(0, 4)).toEqual(tasks.map(() => "→ Running reader agent..."));
    expect(updates.slice(4).sort()).toEqual(ends);
  });
});
