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
});
