import { expect, it } from "vitest";
import type { ScriptedReply } from "../../src/scripted/script.ts";
import type { ScriptedRequest } from "../../src/scripted/request.ts";
import { agentIn } from "../support/live-chat.ts";
import { describeClaude } from "../support/peers.ts";
import { bash, done, taskMachine } from "../support/task.ts";

/** Asks which colour, then makes a file with the answer in it. */
function asksFirst({ users }: ScriptedRequest): ScriptedReply {
  const heard = users.join("\n");
  if (heard.includes("made-it")) return { text: done("made it") };
  const picked = /"Which colour\?"\s*=\s*"(\w+)"/.exec(heard)?.[1];
  if (picked !== undefined) return bash(`echo ${picked} > colour.txt; echo made-it`);
  return { tools: [{ name: "AskUserQuestion", input: { questions: [{ question: "Which colour?", header: "Colour", multiSelect: false, options: [{ label: "blue", description: "" }, { label: "red", description: "" }] }] } }] };
}

describeClaude("questions of a task", () => {
  it("[EXE-3.1.3] headless it ends with exit 4 and the commands to answer; the answer goes on with the same conversation", async () => {
    const box = await taskMachine(asksFirst);
    const asked = await box.task(["paint", "it"]);
    expect(asked.code).toBe(4);
    const id = /cru inbox show ([0-9a-f]+)/.exec(asked.stderr)?.[1] ?? "";
    expect(asked.stderr).toContain(`cru inbox answer ${id} TEXT --resume`);
    const [bead] = box.beads();
    expect(bead).toMatchObject({ status: "blocked", labels: ["direct", "needs-human"] });
    expect(bead?.notes).toContain(`cru inbox show ${id}`);
    expect(box.session().metadata).toMatchObject({ status: "waiting", task: { bead_id: bead?.id }, process: { version: "2.1.325" } });
    const external = box.session().metadata.process?.external_session;
    const answered = await box.cru(["inbox", "answer", id, "2", "--resume", "--json"], { env: box.env });
    expect(answered.stderr).toContain("goes on");
    expect(JSON.parse(answered.stdout)).toMatchObject({ status: "completed", bead_id: bead?.id, external_session: external, changed_files: [{ path: "colour.txt" }] });
    expect(box.git("show", `cru/${String(bead?.id)}:colour.txt`)).toBe("red\n");
    expect(box.sessions()).toHaveLength(1);
    expect(box.beads()[0]).toMatchObject({ status: "closed", labels: ["direct", "unmerged"] });
  });

  it("says how a task goes on, and that it is no chat", async () => {
    const box = await taskMachine(asksFirst);
    await box.task(["paint", "it"]);
    const { id, metadata } = box.session();
    const [waiting] = metadata.waiting;
    const answered = await box.cru(["inbox", "answer", waiting?.id ?? "", "red"], { env: box.env });
    expect(answered.stdout).toContain(`cru task --resume ${id}`);
    const chat = await box.cru(["chat", "-p", "--resume", id], { env: box.env });
    expect(chat).toMatchObject({ code: 2 });
    expect(chat.stderr).toContain(`cru task --resume ${id}`);
    expect(await box.task(["--resume", id])).toMatchObject({ code: 0 });
    const again = await box.task(["--resume", id]);
    expect(again).toMatchObject({ code: 2 });
    expect(again.stderr).toContain("is done");
  });

  it("a new attempt withdraws what the last one asked", async () => {
    const box = await taskMachine((request) => (request.users.join("").includes("Earlier attempts") ? { text: done("without asking") } : asksFirst(request)));
    await box.task(["paint", "it"]);
    const id = box.session().metadata.waiting[0]?.id ?? "";
    expect(await box.task(["--bead", String(box.beads()[0]?.id)])).toMatchObject({ code: 0 });
    expect(JSON.parse((await box.cru(["inbox", "show", id, "--json"], { env: box.env })).stdout)).toMatchObject({ item: { status: "withdrawn" } });
    expect(box.beads()[0]).toMatchObject({ status: "closed", labels: ["direct", "unmerged"] });
  });

  it("[EXE-3.3.1] [EXE-3.3.2] a permission is asked for with its quick actions, and any of their words answers it", async () => {
    const files = agentIn("careful", { permissions: "[FilesystemRead, FilesystemWrite, Shell]", requires_approval: "[Shell]" });
    const box = await taskMachine(({ users }) => (users.join("").includes("made-it") ? { text: done("made") } : bash("echo x > x.txt; echo made-it")), { home: files });
    expect(await box.task(["make", "x", "--agent", "careful"])).toMatchObject({ code: 4 });
    const id = box.session().metadata.waiting[0]?.id ?? "";
    const { item } = JSON.parse((await box.cru(["inbox", "show", id, "--json"], { env: box.env })).stdout) as { item: Record<string, unknown> };
    expect(item).toMatchObject({ kind: "permission", options: ["Allow", "Deny", "Allow All"], agent: "careful" });
    expect(await box.cru(["inbox", "answer", id, "Allow", "--resume"], { env: box.env })).toMatchObject({ code: 0 });
    expect(box.session().metadata).toMatchObject({ status: "completed", primary: { agent: "careful" }, task: { changed_files: ["x.txt"] } });
  });
});
