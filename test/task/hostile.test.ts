import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { repository } from "../support/cru.ts";
import { obedient } from "../support/obedient.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { processesNaming, taskMachine, type TaskMachine } from "../support/task.ts";
import { temporaryFolder } from "../support/temp.ts";

const report = (fields: Record<string, unknown>): string => `js: finish("\\n\`\`\`json\\n" + ${JSON.stringify(JSON.stringify({ success: true, summary: "obeyed", ...fields }))} + "\\n\`\`\`");`;

/** A machine whose agent does whatever its task says: shell text, or `js:` code inside the agent's own process. */
function machine(): Promise<TaskMachine> {
  return taskMachine([], { command: obedient, project: { ".coven/system-prompt.md": "{{.spell_content}}", ".coven/spells/implement.md": "{{.bead.description}}" } });
}

const obey = (box: TaskMachine, order: string, env: Record<string, string> = {}) => box.task([`an order\n${order}`, "--trust", "--json"], { env });

const shell = (command: string): string => `js: await new Promise((r) => spawn("/bin/sh", ["-c", ${JSON.stringify(command)}], { stdio: "ignore" }).on("exit", r)); ${report({}).slice(3)}`;

describeSandboxed("a task whose agent obeys anybody", () => {
  it("S14 S18: hooks, foreign refs, history and the main checkout are out of its reach; its work is taken over all the same", async () => {
    const box = await machine();
    const canary = join(temporaryFolder(), "ran");
    const gitDir = join(box.project, ".git");
    const hook = `#!/bin/sh\ntouch ${canary}\n`;
    const before = box.git("rev-parse", "main").trim();
    const ran = await obey(box, shell([
      `for h in pre-commit post-commit post-checkout reference-transaction; do printf '${hook.replaceAll("\n", "\\n")}' > ${gitDir}/hooks/$h; chmod +x ${gitDir}/hooks/$h; done`,
      "echo stolen > stolen.txt", "git add -A", "git commit -qm mine",
      "git update-ref refs/heads/main HEAD", "git branch evil", `echo x > ${box.project}/a.txt`, `echo x > ${box.project}/new.txt`, `echo x > ${box.home}/new.txt`, `git config core.fsmonitor "touch ${canary}"`, "git config core.hooksPath .evil", "true",
    ].join("; ")));
    const end = JSON.parse(ran.stdout) as { status: string; bead_id: string };
    expect(end).toMatchObject({ status: "completed", changed_files: [{ path: "stolen.txt" }] });
    expect(box.git("rev-parse", "main").trim()).toBe(before);
    expect(box.git("branch", "--format=%(refname:short)").trim().split("\n").toSorted()).toEqual([`cru/${end.bead_id}`, "main"]);
    expect(readdirSync(join(gitDir, "hooks")).filter((name) => !name.endsWith(".sample"))).toEqual([]);
    expect(readFileSync(join(gitDir, "config"), "utf8")).not.toContain("fsmonitor");
    expect(box.git("status", "--porcelain")).toBe("?? .beads/\n");
    expect(existsSync(join(box.home, "new.txt"))).toBe(false);
    expect(existsSync(canary)).toBe(false);
  });

  it("R11: nothing of it is left when the task has ended", async () => {
    const box = await machine();
    await obey(box, shell("(setsid nohup sleep 98761 &) ; (sh -c 'sh -c \"sleep 98761 &\" &') ; for i in 1 2 3 4 5 6 7 8; do sleep 98761 & done; true"));
    expect(processesNaming("98761")).toEqual([]);
  });

  it.each([
    ["ends without a word", "js: process.exit(0)", "ended without a result"],
    ["ends with an error", "js: process.exit(3)", "died"],
    ["crashes", "js: process.kill(process.pid, 'SIGSEGV')", "died"],
    ["claims success in its words only", 'js: say("```json\\n{\\"success\\":true,\\"summary\\":\\"x\\"}\\n```"); finish("done")', "no ```json block"],
  ])("R10: one that %s has failed, and the bead is blocked", async (_, order, reason) => {
    const box = await machine();
    expect(await obey(box, order)).toMatchObject({ code: 1 });
    expect(box.beads()).toMatchObject([{ status: "blocked", labels: ["direct", "needs-human"] }]);
    expect(box.beads()[0]?.notes).toContain(reason);
  });

  it("R10: one that hangs, and one that only shows signs of life, are stopped by the idle time", async () => {
    for (const order of ['js: (await import("node:fs")).closeSync(1); setInterval(() => {}, 1000)', 'js: setInterval(() => process.stdout.write("spinning\\n"), 20)']) {
      const box = await machine();
      expect(await obey(box, order, { CRU_TIMEOUTS_IDLE: "1s" })).toMatchObject({ code: 4 });
      expect(box.beads()[0]?.notes).toContain("timeout");
    }
  });

  it("R12: endless output, a very long line and bytes that are no text fill the disk, not the memory", async () => {
    const box = await machine();
    const flood = 'const line = Buffer.alloc(1 << 17, 0xff); for (let i = 0; i < 400; i++) { line[line.length - 1] = 10; await new Promise((r) => process.stdout.write(line, r)); } const long = Buffer.alloc(1 << 20, 120); for (let i = 0; i < 40; i++) await new Promise((r) => process.stdout.write(long, r)); process.stdout.write("\\n");';
    const task = box.start(["task", `an order\njs: ${flood} ${report({}).slice(3)}`, "--trust", "--json"]);
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, peakOf(task.pid))), 50);
    const ended = await task.ended;
    clearInterval(watch);
    expect(JSON.parse(ended.stdout)).toMatchObject({ status: "completed" });
    expect(most).toBeGreaterThan(20);
    expect(most).toBeLessThan(150);
    const { folder } = box.session();
    expect(lstatSync(join(folder, "events.jsonl")).size).toBeGreaterThan(48 << 20);
    expect(readFileSync(join(folder, "events.jsonl"), "utf8").slice(-200_000)).toContain("bytes cut");
  });

  it("S6: an agent's own commands start no task", async () => {
    const box = await machine();
    const marker = { v: 1, depth: 0, trace_id: "t", session_id: "s", agent: "implementer", permissions: [] };
    const ran = await box.task(["x"], { env: { CRUCIBLE_AGENT: JSON.stringify(marker) } });
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.stderr).toContain("spawn_agent");
  });

  it("S16: whatever the umask, what is kept of an agent is for its user alone", async () => {
    const box = await machine();
    const run = `umask 000; exec ${process.execPath} ${join(repository, "dist", "main.js")} task "an order\njs: process.exit(3)" --trust`;
    expect(() => execFileSync("/bin/sh", ["-c", run], { cwd: box.project, env: { ...box.env, HOME: box.home }, stdio: "ignore" })).toThrow("Command failed");
    const state = join(box.home, ".local", "state", "crucible");
    const open = [...readdirSync(state, { recursive: true, encoding: "utf8" }).map((name) => join(state, name)), ...readdirSync(box.session().folder).map((name) => join(box.session().folder, name))]
      .filter((path) => lstatSync(path).isFile() && (lstatSync(path).mode & 0o077) !== 0 && !isBehindPrivate(path));
    expect(open).toEqual([]);
  });
});

/** A folder above it is closed to others. */
function isBehindPrivate(path: string): boolean {
  for (let folder = dirname(path); folder !== dirname(folder) && !folder.endsWith("/home") && !folder.endsWith("/project"); folder = dirname(folder)) if ((lstatSync(folder).mode & 0o077) === 0) return true;
  return false;
}

/** Most memory that a process ever had, in MiB. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
