import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { describeClaude } from "../support/peers.ts";
import { bash, done, taskMachine } from "../support/task.ts";

describeClaude("how a task ends", () => {
  it("[EXE-5.2.2] an agent that reports failure: exit 1, the bead is blocked with the details, the work is kept", async () => {
    const box = await taskMachine([bash("echo half > half.txt"), { text: done("half", { success: false, error: "needs a decision about dates" }) }]);
    const ran = await box.task(["dates"]);
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.stderr).toContain("✗ failed: needs a decision about dates");
    const [bead] = box.beads();
    expect(bead).toMatchObject({ status: "blocked", labels: ["direct", "needs-human"] });
    expect(bead?.notes).toContain("needs a decision about dates");
    expect(box.git("show", `cru/${String(bead?.id)}:half.txt`)).toBe("half\n");
    expect(box.session().metadata).toMatchObject({ status: "failed", task: { reason: "needs a decision about dates", changed_files: ["half.txt"] } });
  });

  it("[EXE-10.3.1] without a valid JSON block it has failed, whatever it says", async () => {
    const box = await taskMachine([{ text: "All is well, believe me." }]);
    expect(await box.task(["x"])).toMatchObject({ code: 1 });
    expect(box.beads()[0]?.notes).toContain("no ```json block");
  });

  it("[EXE-4.3.2] without progress it is stopped and the bead is blocked with the timeout as the reason", async () => {
    const box = await taskMachine([{ text: "hm", fault: { kind: "hang", after_events: 3 } }]);
    const ran = await box.task(["x", "--json"], { env: { CRU_TIMEOUTS_IDLE: "1s" } });
    expect(ran).toMatchObject({ code: 4 });
    expect(JSON.parse(ran.stdout)).toMatchObject({ status: "blocked", reason: "idle" });
    expect(box.beads()[0]).toMatchObject({ status: "blocked", labels: ["direct", "needs-human"] });
    expect(box.beads()[0]?.notes).toContain("timeout: the agent got no further");
  });

  it("R15: a limit with a time of reset blocks until then; nobody is needed, and the attempt goes on afterwards", async () => {
    let limited = true;
    const box = await taskMachine(() => (limited ? { error: { status: 429, headers: { "retry-after": "3600" } } } : { text: done("later") }));
    const ran = await box.task(["x", "--json"]);
    expect(ran).toMatchObject({ code: 4 });
    const end = JSON.parse(ran.stdout) as { reset_at: string };
    expect(Date.parse(end.reset_at)).toBeGreaterThan(Date.now() + 3_000_000);
    expect(box.beads()[0]).toMatchObject({ status: "blocked", labels: ["direct"] });
    expect(box.beads()[0]?.notes).toContain(end.reset_at);
    limited = false;
    expect(await box.task(["--resume", box.session().id])).toMatchObject({ code: 0 });
  });

  it("a budget that is used up blocks, and more money goes on", async () => {
    const box = await taskMachine(({ users }) => (users.join("").includes("spent-it") ? { text: done("worth it") } : { ...bash("echo spent-it"), usage: { input: 100_000, output: 20_000 } }));
    const ran = await box.task(["x", "--budget", "0.1"]);
    expect(ran).toMatchObject({ code: 4 });
    expect(ran.stderr).toContain("--budget");
    const { id } = box.session();
    expect((await box.task(["--resume", id, "--budget", "0.1"])).stderr).toContain("the budget for this task is used up");
    expect(await box.task(["--resume", id, "--budget", "5"])).toMatchObject({ code: 0 });
  });

  it("when we ourselves cannot go on, the bead says why, and the same session goes on once that is mended", async () => {
    const inTheWay = ".local/state/crucible/agents";
    const box = await taskMachine([{ text: done("at last") }], { home: { [inTheWay]: "not a folder" } });
    expect(await box.task(["x"])).toMatchObject({ code: 1 });
    expect(box.beads()[0]).toMatchObject({ status: "blocked", labels: ["direct", "needs-human"] });
    expect(box.beads()[0]?.notes).toMatch(/EEXIST|ENOTDIR/);
    expect(box.session().metadata).toMatchObject({ status: "failed", task: { reason: expect.stringMatching(/EEXIST|ENOTDIR/) as unknown } });
    rmSync(join(box.home, inTheWay));
    expect(await box.task(["--resume", box.session().id])).toMatchObject({ code: 0 });
    expect(readdirSync(join(box.home, inTheWay), { recursive: true })).toHaveLength(1);
  });

  it("what is missing is said before anything is made", async () => {
    const box = await taskMachine([]);
    const cases: [string[], Record<string, string>, number, string][] = [
      [[], {}, 2, "task needs words or a bead"],
      [["x", "--runner", "claud"], {}, 2, "did you mean 'claude'"],
      [["x", "--bead", "nope"], {}, 2, "there is no bead 'nope'"],
      [["x", "--model", "sonet"], {}, 2, "unknown model"],
      [["x", "--runner", "claude"], { CRU_CLAUDE_COMMAND: "no-such-claude" }, 1, "was not found"],
      [["x", "--runner", "acp"], {}, 1, "no ACP agent is configured"],
      [["x"], { ANTHROPIC_API_KEY: "" }, 1, "no login"],
      [["--resume", "2026-01-01-x"], {}, 2, "there is no session"],
    ];
    for (const [args, env, code, message] of cases) {
      const ran = await box.task(args, { env });
      expect(ran.stderr).toContain(message);
      expect(ran.code).toBe(code);
    }
    expect(box.git("status", "--porcelain")).toBe("");
    expect(box.git("branch", "--list", "cru/*")).toBe("");
  });
});
