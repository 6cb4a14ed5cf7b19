import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { actionHash } from "../../src/inbox/question-file.ts";
import { chatMachine, type ChatMachine } from "../support/chat.ts";
import { describeSandboxed } from "../support/sandbox.ts";

// The name is put together, so that no gate asks before the command.
const MAKES = "d=.cla; mkdir -p ${d}ude/agents && echo made > ${d}ude/agents/x.md";

/** A chat in which a command makes `.claude`, and the id of the item about it. */
async function made(): Promise<{ box: ChatMachine; id: string; aside: string }> {
  const box = await chatMachine({ rules: [{ match: {}, by: "turn", replies: [{ tools: [{ name: "run_command", input: { command: MAKES }, id: "c" }] }, { tools: [{ name: "reflect", input: { goal_achieved: true, progress: "p", content: "done" }, id: "r" }], text: "done" }] }] });
  const { code, stdout, stderr } = await box.chat(["go"]);
  expect([code, stdout]).toEqual([0, "done\n"]);
  const [, id = ""] = /cru inbox approve (\w+)/.exec(stderr) ?? [];
  const folder = join(box.home, ".local/state/crucible/aside");
  return { box, id, aside: join(folder, readdirSync(folder)[0] ?? "", ".claude") };
}

describeSandboxed("protected paths that a command made", () => {
  it("leave the workspace, and an inbox item shows them; the agent goes on and is told", async () => {
    const { box, id, aside } = await made();
    expect(existsSync(join(box.project, ".claude"))).toBe(false);
    expect(readFileSync(join(aside, "agents/x.md"), "utf8")).toBe("made\n");
    const { stdout } = await box.cru(["inbox", "list", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ items: [{ id, kind: "approval", status: "pending", title: "put .claude into the workspace" }] });
    const shown = (await box.cru(["inbox", "show", id])).stdout;
    expect(shown).toContain(".claude/agents/x.md");
    expect(shown).toContain(aside);
    expect(box.requests.at(-1)?.users.at(-1)).toContain("[.claude is protected: what the command made there was moved out of the workspace; the user decides whether it goes in]");
    expect(box.session().metadata).toMatchObject({ status: "completed", waiting: [] });
  });

  it("go in when a person approves, once", async () => {
    const { box, id, aside } = await made();
    expect(await box.cru(["inbox", "approve", id])).toMatchObject({ code: 0, stdout: `approved ${id}: put .claude into the workspace\n` });
    expect(readFileSync(join(box.project, ".claude/agents/x.md"), "utf8")).toBe("made\n");
    expect(existsSync(aside)).toBe(false);
    expect((await box.cru(["inbox", "approve", id])).code).toBe(1);
  });

  it("stay where they are when a person denies", async () => {
    const { box, id, aside } = await made();
    expect((await box.cru(["inbox", "deny", id, "--reason", "not mine"])).code).toBe(0);
    expect([existsSync(join(box.project, ".claude")), existsSync(aside)]).toEqual([false, true]);
  });

  it("replace nothing: where something is by now, the item stays open", async () => {
    const { box, id, aside } = await made();
    mkdirSync(join(box.project, ".claude"));
    const { code, stderr } = await box.cru(["inbox", "approve", id]);
    expect(code).toBe(1);
    expect(stderr).toContain("there is a .claude in the workspace now");
    expect(stderr).toContain(aside);
    expect(JSON.parse((await box.cru(["inbox", "list", "--json"])).stdout)).toMatchObject({ items: [{ id, status: "pending" }] });
  });

  it("are only what was moved aside here: a record that came with the project leads nowhere", async () => {
    const { box, id } = await made();
    const inbox = join(box.project, ".crucible/inbox");
    const question = JSON.parse(readFileSync(join(inbox, `${id}.json`), "utf8")) as { id: string; action: { tool: string; input: Record<string, string> }; action_hash: string };
    const forged: Record<string, string>[] = [{ aside: "../../../../.ssh" }, { name: "id_rsa" }, { workspace: box.home }];
    for (const [i, input] of forged.entries()) {
      const record = { ...question, id: `f000000${i}`, action: { ...question.action, input: { ...question.action.input, ...input } } };
      writeFileSync(join(inbox, `f000000${i}.json`), JSON.stringify({ ...record, action_hash: actionHash(record as never) }));
      const { code, stderr } = await box.cru(["inbox", "approve", `f000000${i}`]);
      expect([code, stderr]).toEqual([1, expect.stringContaining("does not name something that was moved aside here")]);
    }
    expect(lstatSync(join(box.home, ".claude"), { throwIfNoEntry: false })).toBeUndefined();
  });
});
