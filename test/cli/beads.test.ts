import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Bead } from "../../src/contract/bead.ts";
import { machine } from "../support/cru.ts";

describe("cru beads", () => {
  it("creates, shows, updates, closes and lists", async () => {
    const { cru, project } = machine();
    const created = await cru(["beads", "create", "Add", "a login page", "--type", "feature", "--priority", "P1", "--description", "d", "--acceptance", "a\nb", "--label", "ui", "--label", "web", "--json"]);
    expect(created).toMatchObject({ code: 0, stderr: "" });
    const { bead } = JSON.parse(created.stdout) as { bead: Bead };
    expect(bead).toMatchObject({ title: "Add a login page", issue_type: "feature", priority: 1, description: "d", acceptance_criteria: "a\nb", labels: ["ui", "web"], status: "open" });
    const shown = await cru(["beads", "show", bead.id]);
    expect(shown.stdout).toContain(`${bead.id}  Add a login page\n`);
    expect(shown.stdout).toContain("\nAcceptance criteria\na\nb\n");
    expect(JSON.parse((await cru(["beads", "show", bead.id, "--json"])).stdout)).toEqual({ bead });
    expect((await cru(["beads", "update", bead.id, "--status", "in_progress", "--remove-label", "ui"])).stdout).toBe(`${bead.id}\tin_progress\n`);
    const closed = JSON.parse((await cru(["beads", "close", bead.id, "--reason", "done", "--json"])).stdout) as { bead: Bead };
    expect(closed.bead).toMatchObject({ status: "closed", close_reason: "done", labels: ["web"] });
    const second = (await cru(["beads", "create", "Second"])).stdout.trim();
    const list = JSON.parse((await cru(["beads", "list", "--json"])).stdout) as { beads: Bead[]; problems: unknown[] };
    expect([list.beads.map((b) => b.id), list.problems]).toEqual([[bead.id, second], []]);
    expect((await cru(["beads", "list", "--status", "open,blocked"])).stdout).toBe(`${second}\tP2\topen\ttask\tSecond\n`);
    expect((await cru(["beads", "list", "--label", "web"])).stdout).toContain(bead.id);
    expect(readFileSync(join(project, ".beads/issues.jsonl"), "utf8").split("\n")).toHaveLength(3);
  });

  it.each([
    [["create", " "], "the title is empty"],
    [["create", "a\nb"], "a title is one line"],
    [["create", "x", "--type", "bugg"], "did you mean 'bug'?"],
    [["create", "x", "--priority", "9"], "from 0 (highest) to 4"],
    [["update", "x-1"], "nothing to change"],
    [["update", "x-1", "--status", "done"], "--status does not know 'done'"],
    [["update", "web-a1b3", "--priority", "1"], "did you mean 'web-a1b2'?"],
    [["show", "nothing-like-it"], "there is no bead 'nothing-like-it'"],
    [["close", "web"], "there is no bead 'web'"],
  ])("%j is a mistake that changes nothing", async (args, message) => {
    const line = `{"id":"web-a1b2","title":"x"}\n`;
    const { cru, project } = machine({ project: { ".beads/issues.jsonl": line } });
    const { code, stdout, stderr } = await cru(["beads", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(readFileSync(join(project, ".beads/issues.jsonl"), "utf8")).toBe(line);
  });

  it("shows foreign text inert, and says what cannot be read", async () => {
    const { cru } = machine({ project: { ".beads/issues.jsonl": `{"id":"web-1","title":"a\\u001b[31mb\\u202e","description":"\\u001b]0;x\\u0007"}\nnot json\n` } });
    const list = await cru(["beads", "list"]);
    expect(list.stderr).toContain(".beads/issues.jsonl:2:1: not a line of JSON");
    const shown = await cru(["beads", "show", "web-1"]);
    // oxlint-disable-next-line no-control-regex
    expect(list.stdout + shown.stdout).not.toMatch(/[\u001b\u202e\u0007]/);
  });

  it("works on the main checkout from inside a linked worktree, and leaves git clean but for the beads", async () => {
    const { cru, project } = machine({ project: { "a.txt": "a\n" } });
    const git = (...args: string[]): string => execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.invalid", ...args], { cwd: project, encoding: "utf8" });
    git("init", "-q", "-b", "main");
    git("add", "-A");
    git("commit", "-qm", "first");
    mkdirSync(join(project, "..", "trees"));
    git("worktree", "add", "-q", "../trees/one");
    const tree = join(project, "../trees/one");
    expect((await cru(["beads", "create", "From afar"], { cwd: tree })).code).toBe(0);
    expect(existsSync(join(tree, ".beads"))).toBe(false);
    expect(git("status", "--porcelain")).toBe("?? .beads/\n");
  });
});
