import { expect, it } from "vitest";
import { describeClaude } from "../support/peers.ts";
import { until } from "../support/processes.ts";
import { held } from "../support/live-chat.ts";
import { bash, done, taskMachine, type TaskMachine } from "../support/task.ts";

/** What the agent was told first, without what the CLI puts around it. */
function told(box: TaskMachine, request = 0): string {
  return box.requests[request]?.users.join("\n") ?? "";
}

describeClaude("what an agent is told", () => {
  it("[EXD-1.1.2] [EXD-2.1.1] [EXD-2.1.2] [EXD-3.1.1] the default profile with title, description and acceptance criteria", async () => {
    const box = await taskMachine([{ text: done() }]);
    await box.task(["Export empty names\nThey crash it today.", "--accept", "an empty name is exported as a dash"]);
    for (const part of ["Export empty names", "They crash it today.", "an empty name is exported as a dash", "## How to work", "fenced as ```` ```json ````"]) expect(told(box)).toContain(part);
  });

  it("[EXD-3.1.2] acceptance criteria come from the bead", async () => {
    const box = await taskMachine([{ text: done() }]);
    const made = await box.cru(["beads", "create", "Sort the list", "--acceptance", "the list is sorted by name", "--description", "By name, please.", "--json"]);
    const { id } = (JSON.parse(made.stdout) as { bead: { id: string } }).bead;
    expect(await box.task(["--bead", id])).toMatchObject({ code: 0 });
    for (const part of ["Sort the list", "By name, please.", "the list is sorted by name"]) expect(told(box)).toContain(part);
    const closed = await box.task(["--bead", id]);
    expect(closed).toMatchObject({ code: 2 });
    expect(closed.stderr).toContain(`${id} is closed: not merged, branch cru/${id}`);
  });

  it("[EXE-1.2.2] [EXD-1.3.3] the worktree's CLAUDE.md or AGENTS.md guides it", async () => {
    const box = await taskMachine([{ text: done() }, { text: done() }], { project: { "AGENTS.md": "GUIDE-AGENTS\n" } });
    await box.task(["one"]);
    box.git("mv", "AGENTS.md", "CLAUDE.md");
    box.git("commit", "-qm", "rename");
    await box.task(["two"]);
    expect(box.requests.map((r) => r.system.includes("GUIDE-AGENTS"))).toEqual([true, true]);
  });

  it("[EXD-1.3.1] [EXD-1.3.2] it works in its worktree and sees neither home nor main checkout", async () => {
    const box = await taskMachine([bash("pwd; cat ../../../canary.txt ~/secret.txt ../../../a.txt; ls ../../.. ~; echo checked"), { text: done() }], { project: { "canary.txt": "CHECKOUT-CANARY\n" }, home: { "secret.txt": "HOME-CANARY\n" } });
    box.git("rm", "-q", "--cached", "canary.txt");
    box.git("commit", "-qm", "not tracked");
    const ran = await box.task(["look", "--json"]);
    const { bead_id } = JSON.parse(ran.stdout) as { bead_id: string };
    const seen = box.session().events.flatMap((e) => (e.type === "agent.tool_result" ? [e.output] : [])).join("\n");
    expect(seen.split("\n")[0]).toContain(box.worktree(bead_id));
    expect(seen).toContain("checked");
    expect(seen).not.toContain("CANARY");
  });

  it("[EXD-1.1.3] what it says is shown while it works", async () => {
    const rest = held({ text: done() });
    const box = await taskMachine((request) => (request.users.join("").includes("looked") ? rest.wait : bash("echo looked", "I look first.")));
    const task = box.start(["task", "look"]);
    await until(() => task.stderr().includes("I look first.") && task.stderr().includes("· Bash echo looked"));
    rest.release();
    expect(await task.ended).toMatchObject({ code: 0 });
  });

  it("[EXD-3.3.1] [EXD-3.3.2] a second attempt hears how the first one ended", async () => {
    const box = await taskMachine([bash("echo half > half.txt"), { text: done("half of it", { success: false, error: "the parser cannot do generics" }) }, { text: done("now all") }]);
    const first = await box.task(["parse", "generics", "--json"]);
    expect(first.code).toBe(1);
    const { bead_id } = JSON.parse(first.stdout) as { bead_id: string };
    expect(await box.task(["--bead", bead_id])).toMatchObject({ code: 0 });
    const second = told(box, 2);
    for (const part of ["## Earlier attempts at this task", "the parser cannot do generics", "half of it", "half.txt"]) expect(second).toContain(part);
    expect(told(box)).not.toContain("Earlier attempts");
    expect(box.sessions()).toHaveLength(2);
  });

  it("[EXE-9.2.1] [EXE-9.2.2] the project's own system prompt is used once it is trusted, and must have a place for the task", async () => {
    const box = await taskMachine([{ text: done() }], { project: { ".coven/system-prompt.md": "OWN-PROMPT for {{.bead.title}}:\n{{.spell_content}}\n" } });
    const untrusted = await box.task(["do", "it"]);
    expect(untrusted).toMatchObject({ code: 4 });
    expect(untrusted.stderr).toContain("the system prompt comes from this project");
    expect(await box.task(["do", "it", "--trust"])).toMatchObject({ code: 0 });
    expect(told(box)).toMatch(/^[\s\S]*OWN-PROMPT for do it:\n# Task/);
    const broken = await taskMachine([], { project: { ".coven/system-prompt.md": "no place\n" } });
    expect(await broken.task(["do", "it", "--trust"])).toMatchObject({ code: 3 });
  });
});
