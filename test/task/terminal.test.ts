import { describe, expect, it } from "vitest";
import type { ScriptedReply } from "../../src/scripted/script.ts";
import type { ScriptedRequest } from "../../src/scripted/request.ts";
import { agentIn } from "../support/live-chat.ts";
import { describeClaude } from "../support/peers.ts";
import { bash, done, taskMachine, type TaskMachine } from "../support/task.ts";
import { NO_TMUX, openWindow, type Window } from "../support/tmux.ts";

function open(box: TaskMachine, args: string[]): Window {
  return openWindow(["task", ...args], { cwd: box.project, env: { HOME: box.home, ...box.env }, columns: 100, rows: 30 });
}

const colour = { questions: [{ question: "Which colour?", header: "Colour", multiSelect: false, options: [{ label: "blue", description: "" }, { label: "red", description: "" }] }] };

describe.skipIf(NO_TMUX !== undefined)("cru task on a terminal", () => {
  describeClaude("with the real CLI", () => {
    it("[EXE-3.2.2] shows what the agent does, asks its question in a dialog, and goes on with the answer", async () => {
      const script = ({ users }: ScriptedRequest): ScriptedReply => {
        const heard = users.join("\n");
        const picked = /"Which colour\?"\s*=\s*"(\w+)"/.exec(heard)?.[1];
        if (heard.includes("made-it")) return { text: done("painted") };
        if (picked !== undefined) return bash(`echo ${picked} > colour.txt; echo made-it`);
        return heard.includes("looked-around") ? { tools: [{ name: "AskUserQuestion", input: colour }] } : bash("echo looked-around", "First I look around.");
      };
      const box = await taskMachine(script);
      const window = open(box, ["paint", "it"]);
      await window.see("First I look around.", "✓ Bash  echo looked-around", "Question · implementer", "Which colour?", "2 red", "Your answer");
      window.type("2");
      window.press("Enter");
      expect(await window.ended()).toBe(0);
      const all = window.all();
      for (const text of ["✓ answered", "painted", "1 file changed on cru/", "+red", "git merge cru/"]) expect(all).toContain(text);
      expect(all).toContain("icanon echo");
    });

    it("a permission can be allowed for all such calls of this agent", async () => {
      const files = agentIn("careful", { permissions: "[FilesystemRead, FilesystemWrite, Shell]", requires_approval: "[Shell]" });
      const box = await taskMachine([bash("echo one > 1.txt"), bash("echo two > 2.txt"), { text: done("both") }], { home: files });
      const window = open(box, ["two", "files", "--agent", "careful"]);
      await window.see("Permission needed", "echo one > 1.txt", "s allow all of this kind");
      window.press("s");
      expect(await window.ended()).toBe(0);
      expect(window.all()).toContain("2 files changed");
      expect(box.session().events.filter((e) => e.type === "inbox.opened")).toHaveLength(1);
    });

    it("Ctrl-C stops the agent, and says how to go on", async () => {
      const box = await taskMachine([bash("sleep 600", "I wait.")]);
      const window = open(box, ["wait"]);
      await window.see("I wait.", "running a command", "Ctrl-C stops");
      window.press("C-c");
      expect(await window.ended()).toBe(130);
      expect(window.all()).toContain("go on with cru task --resume");
    });
  });
});
