import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ScriptedReply } from "../../src/scripted/script.ts";
import type { ScriptedRequest } from "../../src/scripted/request.ts";
import { describeClaude } from "../support/peers.ts";
import { until } from "../support/processes.ts";
import { bash, done, type Live, processesNaming, taskMachine, type TaskMachine } from "../support/task.ts";

/** Begins a command that does not end; told that it was interrupted, makes the rest and is done. */
function interrupted({ users }: ScriptedRequest): ScriptedReply {
  const heard = users.join("\n");
  if (heard.includes("made-rest")) return { text: done("all of it") };
  return heard.includes("You were interrupted") ? bash("echo rest > rest.txt; echo made-rest") : bash("echo part > new; mv new part.txt; (setsid sleep 7654 &); sleep 600", "I begin.");
}

type Begun = { task: Live; bead: string; external: string };

/** A task whose agent has begun its command. */
async function begin(box: TaskMachine): Promise<Begun> {
  const task = box.start(["task", "begin", "--json"]);
  const bead = (): string => String(box.beads()[0]?.id ?? "");
  await until(() => existsSync(join(box.project, ".beads", "issues.jsonl")) && existsSync(join(box.worktree(bead()), "part.txt")));
  return { task, bead: bead(), external: box.session().metadata.process?.external_session ?? "" };
}

describeClaude("a task that is stopped", () => {
  it("[EXE-4.2.2] Ctrl-C ends the agent and all it started, keeps the work on the branch, and --resume goes on", async () => {
    const box = await taskMachine(interrupted);
    const { task, bead, external } = await begin(box);
    task.kill("SIGINT");
    const ended = await task.ended;
    expect(ended.code).toBe(130);
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: "interrupted", changed_files: [{ path: "part.txt" }] });
    expect(processesNaming(external)).toEqual([]);
    expect(processesNaming("7654")).toEqual([]);
    expect(box.git("show", `cru/${bead}:part.txt`)).toBe("part\n");
    expect(box.beads()).toMatchObject([{ status: "blocked", labels: ["direct"] }]);
    const resumed = await box.task(["--resume", box.session().id, "--json"]);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ status: "completed", external_session: external, changed_files: [{ path: "part.txt" }, { path: "rest.txt" }] });
  });

  it("kill -9 of cru takes the agent along; --resume goes on with the same conversation", async () => {
    const box = await taskMachine(interrupted);
    const { task, bead, external } = await begin(box);
    task.kill("SIGKILL");
    await task.ended;
    await until(() => processesNaming(external).length === 0 && processesNaming("7654").length === 0);
    expect(box.beads()).toMatchObject([{ status: "in_progress" }]);
    const resumed = await box.task(["--resume", box.session().id, "--json"]);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ status: "completed", bead_id: bead, external_session: external, changed_files: [{ path: "part.txt" }, { path: "rest.txt" }] });
    expect(box.git("status", "--porcelain")).toBe("?? .beads/\n");
  });

  it("[EXE-2.1.2] another process sees who is at work, follows its output, and stops it", async () => {
    const box = await taskMachine(interrupted);
    const { task, bead } = await begin(box);
    const env = box.env;
    expect(JSON.parse((await box.cru(["familiars", "list", "--json"], { env })).stdout)).toMatchObject({ familiars: [{ bead_id: bead, status: "working", runner: "claude", pid: task.pid }] });
    const again = await box.task(["--bead", bead]);
    expect(again).toMatchObject({ code: 75 });
    expect(again.stderr).toContain(String(task.pid));
    const follower = box.start(["familiars", "output", bead, "-f"]);
    await until(() => follower.stdout().includes("I begin."));
    const stopped = await box.cru(["familiars", "stop", bead], { env });
    expect(stopped.stdout).toContain("cru task --resume");
    expect(await task.ended).toMatchObject({ code: 130 });
    expect((await follower.ended).stdout).toContain("· Bash echo part");
    expect((await box.cru(["familiars", "output", bead], { env })).stdout).toContain("· Bash echo part");
    expect(await box.cru(["familiars", "stop", bead], { env })).toMatchObject({ code: 2 });
  });

  it("what a dead owner left is put in order by the stop itself", async () => {
    const box = await taskMachine(interrupted);
    const { task, bead, external } = await begin(box);
    task.kill("SIGKILL");
    await task.ended;
    await until(() => processesNaming(external).length === 0);
    expect(await box.cru(["familiars", "stop", bead], { env: box.env })).toMatchObject({ code: 0 });
    expect(box.session().metadata.status).toBe("interrupted");
    expect(box.git("show", `cru/${bead}:part.txt`)).toBe("part\n");
    expect(box.beads()).toMatchObject([{ status: "blocked" }]);
  });
});
