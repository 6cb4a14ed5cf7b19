import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chooseRunner } from "../../src/app/choose-runner.ts";
import { DEFAULT_SETTINGS } from "../../src/contract/settings-defaults.ts";
import { describeClaude } from "../support/peers.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { bash, done, taskMachine } from "../support/task.ts";
import { temporaryFolder } from "../support/temp.ts";

describe("which runner", () => {
  const root = temporaryFolder();
  const choose = (purpose: "chat" | "task", env: Record<string, string>, change: Partial<typeof DEFAULT_SETTINGS> = {}) =>
    chooseRunner({ wanted: "auto", purpose, settings: { ...DEFAULT_SETTINGS, ...change }, env, root });
  const key = { ANTHROPIC_API_KEY: "k" };

  it("auto: a task takes claude when it is there, else a configured ACP agent, else the model; a chat the model when it can", () => {
    const there = { claude: { command: process.execPath, args: [] } };
    const acp = { acp: { command: "some-agent" } };
    expect(choose("task", key, there)).toBe("claude");
    expect(choose("task", key, acp)).toBe("acp");
    expect(choose("task", key)).toBe("model");
    expect(choose("chat", key, there)).toBe("model");
    expect(choose("chat", {}, there)).toBe("claude");
    expect(choose("chat", {})).toBe("model");
  });

  it("a name is taken at its word", () => {
    expect(chooseRunner({ wanted: "acp", purpose: "chat", settings: DEFAULT_SETTINGS, env: {}, root })).toBe("acp");
  });
});

describeSandboxed("a task with the model of this process", () => {
  it("works in the worktree, commits through its private git, asks nobody, and ends like any other", async () => {
    const call = (name: string, input: unknown) => ({ tools: [{ name, input }] });
    const box = await taskMachine([
      call("write_file", { path: "made.txt", content: "made\n" }),
      call("run_command", { command: "git add -A && git commit -qm 'by the agent' && git log -1 --format=%s && pwd" }),
      { text: done("made by the loop") },
      call("reflect", { goal_achieved: true, progress: "all", content: "done" }),
    ]);
    const ran = await box.task(["make", "it", "--runner", "model", "--json"]);
    const end = JSON.parse(ran.stdout) as { bead_id: string };
    expect(ran.code).toBe(0);
    expect(end).toMatchObject({ status: "completed", runner: "model", summary: "made by the loop", changed_files: [{ path: "made.txt" }], external_session: null });
    expect(box.git("log", "--format=%s", `main..cru/${end.bead_id}`).trim()).toBe("by the agent");
    expect(box.git("status", "--porcelain")).toBe("?? .beads/\n");
    const result = box.session().events.find((e) => e.type === "agent.tool_result" && e.tool === "run_command");
    expect(result?.type === "agent.tool_result" && result.output).toContain(box.worktree(end.bead_id));
  });

  it("without the JSON block it has failed", async () => {
    const box = await taskMachine([{ text: "done, I think" }]);
    expect(await box.task(["x", "--runner", "model"])).toMatchObject({ code: 1 });
    expect(box.beads()).toMatchObject([{ status: "blocked" }]);
  });

  it("taken up again after an end of its own it is told what was wrong with it, and can do better", async () => {
    const box = await taskMachine([{ text: "done, I think" }, { text: `\`\`\`json\n{"success":false,"summary":"no","error":"the tests are red"}\n\`\`\`` }, { text: done("now it is") }]);
    expect(await box.task(["x", "--runner", "model"])).toMatchObject({ code: 1 });
    expect(await box.task(["--resume", box.session().id])).toMatchObject({ code: 1 });
    expect(box.requests.at(-1)?.users.at(-1)).toMatch(/taken up again.*json/s);
    expect(await box.task(["--resume", box.session().id])).toMatchObject({ code: 0, stdout: expect.stringContaining("now it is") });
    expect(box.requests.at(-1)?.users.at(-1)).toContain("the tests are red");
    expect(box.requests).toHaveLength(3);
    expect(box.beads()).toMatchObject([{ status: "closed" }]);
  });
});

describeClaude("a task in place", () => {
  it("asks first; approved, it changes the checkout, commits nothing, and says how to undo it", async () => {
    const box = await taskMachine([bash("echo two > a.txt; git status --short; git commit -am no; echo tried"), { text: done("changed") }]);
    const asked = await box.task(["change", "it", "--in-place"]);
    expect(asked).toMatchObject({ code: 4 });
    expect(readFileSync(join(box.project, "a.txt"), "utf8")).toBe("one\n");
    expect(box.requests).toHaveLength(0);
    const id = box.session().metadata.waiting[0]?.id ?? "";
    const ran = await box.cru(["inbox", "approve", id, "--resume"], { env: box.env });
    expect(ran).toMatchObject({ code: 0 });
    expect(readFileSync(join(box.project, "a.txt"), "utf8")).toBe("two\n");
    expect(box.git("log", "--format=%s").trim()).toBe("first");
    expect(box.git("branch", "--list", "cru/*")).toBe("");
    const undo = /git restore --source=([0-9a-f]+) -- \. ':!\.beads'/.exec(ran.stderr)?.[1] ?? "";
    box.git("restore", `--source=${undo}`, "--", ".", ":!.beads");
    expect(readFileSync(join(box.project, "a.txt"), "utf8")).toBe("one\n");
    expect(box.beads()).toMatchObject([{ status: "closed", close_reason: "done in place, not committed" }]);
  });

  it("refused, nothing is done", async () => {
    const box = await taskMachine([]);
    await box.task(["change", "it", "--in-place"]);
    const ran = await box.cru(["inbox", "deny", box.session().metadata.waiting[0]?.id ?? "", "--resume"], { env: box.env });
    expect(ran).toMatchObject({ code: 1 });
    expect(box.requests).toHaveLength(0);
    expect(box.beads()).toMatchObject([{ status: "blocked" }]);
  });
});
