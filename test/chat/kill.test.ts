import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { chatMachine, type ChatMachine } from "../support/chat.ts";
import { repository } from "../support/cru.ts";
import { sample } from "../support/sample.ts";
import { describeSandboxed } from "../support/sandbox.ts";

const HOME = { ".config/crucible/agents/writer.md": "---\nname: writer\ndescription: writes\npermissions: [FilesystemWrite, Shell]\n---\nPROMPT-OF-writer\n" };
const append = (word: string): object => ({ name: "run_command", input: { command: `echo ${word} >> log.txt; sleep 0.03` }, id: `call-${word}` });
const slow = { delay_ms: 25, chunk_ms: 3 };

/** A chat of some seconds with commands, a child and a plan; every command leaves its own line in log.txt. */
function longChat(): Promise<ChatMachine> {
  return chatMachine(
    {
      rules: [
        { match: { system: "PROMPT-OF-writer" }, by: "turn", replies: [{ ...slow, text: "child begins", tools: [append("child1")] }, { ...slow, tools: [append("child2")] }, { ...slow, text: "## Summary\nchild done" }] },
        {
          match: {}, by: "turn", replies: [
            { ...slow, text: "I begin.", tools: [append("one"), append("two")] },
            { ...slow, tools: [{ name: "update_plan", input: { tasks: [{ id: "p", description: "PLANNED", agent: "writer" }] }, id: "plan" }] },
            { ...slow, tools: [append("three"), { name: "reflect", input: { goal_achieved: false, progress: "most", content: "one more" }, id: "r" }] },
            { ...slow, tools: [append("four")] },
            { ...slow, text: "All six are written." },
            { ...slow, tools: [{ name: "reflect", input: { goal_achieved: true, progress: "all", content: "ok" }, id: "r2" }] },
          ],
        },
      ],
    } as Parameters<typeof chatMachine>[0],
    { home: HOME },
  );
}

async function chatAndKill(box: ChatMachine, afterMs: number): Promise<boolean> {
  const child = spawn(process.execPath, [join(repository, "dist", "main.js"), "chat", "-p", "write six lines"], {
    cwd: box.project, env: { PATH: process.env.PATH ?? "", HOME: box.home, NO_COLOR: "1", ...box.env }, stdio: "ignore",
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), afterMs);
  const signal = await new Promise((done) => child.on("exit", (_, s) => done(s)));
  clearTimeout(timer);
  return signal === "SIGKILL";
}

/** Files of session folders that are not whole. */
function broken(box: ChatMachine): string[] {
  const folder = join(box.project, ".crucible/sessions");
  if (!existsSync(folder)) return [];
  return box.sessions().flatMap((id) => readdirSync(join(folder, id)).filter((file) => !isWhole(file, readFileSync(join(folder, id, file), "utf8"))));
}

function isWhole(file: string, text: string): boolean {
  if (file.endsWith(".md")) return /^---\n[\s\S]*?\n---\n/.test(text);
  const parts = file === "metadata.json" ? [text] : file === "events.jsonl" ? text.split("\n").slice(0, -1) : [];
  return parts.every((part) => {
    try {
      JSON.parse(part);
      return true;
    } catch {
      return false;
    }
  });
}

function hasBegun(box: ChatMachine): boolean {
  const events = join(box.project, ".crucible/sessions", box.sessions()[0] ?? "", "events.jsonl");
  return existsSync(events) && readFileSync(events, "utf8").includes("\n");
}

describeSandboxed("kill -9 at random moments of a chat", () => {
  const { values, seed } = sample(50, 4, "kill");
  it(`${values.length} kills (seed ${seed}): every folder parses, --resume finishes, no recorded call runs again`, async () => {
    let killed = 0;
    for (const share of values) {
      const box = await longChat();
      if (await chatAndKill(box, 150 + share * 2600)) killed += 1;
      expect(broken(box)).toEqual([]);
      if (!existsSync(join(box.project, ".crucible/sessions")) || box.sessions().length === 0) continue;
      // Killed before the first record there is nothing to go on with, and that is said plainly.
      const refused = hasBegun(box) ? undefined : await box.chat(["--resume", box.sessions()[0] ?? ""]);
      expect([undefined, "cru: nothing was recorded"]).toContain(refused?.stderr.slice(0, 25));
      if (refused !== undefined) continue;
      const shown = (JSON.parse((await box.cru(["sessions", "list", "--json"])).stdout) as { sessions: { status: string }[] }).sessions[0]?.status;
      expect(["interrupted", "completed"]).toContain(shown);
      const resumed = await box.chat(["--resume", box.sessions()[0] ?? ""]);
      expect({ share, code: resumed.code, stdout: resumed.stdout, stderr: resumed.code === 0 ? "" : resumed.stderr }).toEqual({ share, code: 0, stdout: "All six are written.\n", stderr: "" });
      expect(broken(box)).toEqual([]);
      const lines = existsSync(join(box.project, "log.txt")) ? readFileSync(join(box.project, "log.txt"), "utf8").trim().split("\n") : [];
      expect(new Set(lines).size).toBe(lines.length);
      const { events } = box.session();
      const started = events.flatMap((e) => (e.type === "agent.tool_call" && e.tool === "run_command" ? [e.call_id] : []));
      expect(new Set(started).size).toBe(started.length);
      expect([...started].sort()).toEqual(["call-child1", "call-child2", "call-four", "call-one", "call-three", "call-two"]);
    }
    expect(killed).toBeGreaterThan(0);
  });
});
