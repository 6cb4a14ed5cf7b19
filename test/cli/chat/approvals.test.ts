import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agentIn, IDLE, liveChat } from "../../support/live-chat.ts";
import { masked, NO_TMUX, TERMINAL_TIMEOUT } from "../../support/tmux.ts";

async function screenshot(screen: string, name: string): Promise<void> {
  await expect(`${masked(screen)}\n`).toMatchFileSnapshot(`screens/${name}.txt`);
}

const GATED = { files: { home: { ...agentIn("gated", { requires_approval: "[get_agent]" }), ...agentIn("scout") } }, args: ["--agent", "gated"] };
const look = (id: string, name = "gated") => ({ text: "May I?", tools: [{ name: "get_agent", input: { name }, id }] });

describe.skipIf(NO_TMUX !== undefined)("deciding on a terminal", { timeout: TERMINAL_TIMEOUT }, () => {
  it("[CRU-15.1.1] [CRU-15.1.2] [CRU-15.1.3] pauses, shows what is wanted and offers approve, deny and modify", async () => {
    const { box, window, say } = await liveChat([look("g"), { text: "Seen it." }], GATED);
    say("look yourself up");
    await screenshot(await window.see("Approval needed · gated", "reversible", "a approve   s for this session   d deny   e edit"), "approval");
    expect(box.session().events.some((e) => e.type === "agent.tool_call")).toBe(false);
    window.press("a");
    await window.see("✓ approved get_agent", "Seen it.", IDLE);
    window.press("C-d");
    await window.ended();
    expect(box.session().metadata).toMatchObject({ status: "completed", approvals: [{ by: "person" }] });
  });

  it("[CRU-15.2.1] [CRU-15.2.2] [CRU-15.2.3] [CRU-15.2.4] approves with a change that the tool's schema accepts", async () => {
    const { box, window, say } = await liveChat([look("g"), { text: "Seen scout instead." }], GATED);
    say("look yourself up");
    await window.see("e edit");
    window.press("e");
    await window.see("▸ name: gated", "Enter edit");
    window.press("Enter");
    await window.see("New value", "› gated");
    window.press("C-u", "Enter");
    await screenshot(await window.see("✗ name:"), "change-refused");
    window.type("scout");
    window.press("Enter");
    await screenshot(await window.see("▸ name: scout", "changed"), "change");
    window.press("a");
    await screenshot(await window.see("✓ approved", 'changed: name: "gated" → "scout"', "Seen scout instead.", IDLE), "approved-with-change");
    expect(box.requests[1]?.users.at(-1)).toContain('[Changed by the user before it ran: name: "gated" → "scout"]');
    expect(box.requests[1]?.users.at(-1)).toContain("PROMPT-OF-scout");
    expect(box.session().metadata.modifications).toMatchObject([{ before: { name: "gated" }, after: { name: "scout" } }]);
  });

  it("[CRU-15.3.1] [CRU-15.3.3] [CRU-15.3.4] denies with a reason that the agent hears", async () => {
    const { box, window, say } = await liveChat([look("g"), { text: "Then I will not." }], GATED);
    say("look yourself up");
    await window.see("d deny");
    window.press("d");
    await window.see("Why not?");
    window.type("you know who you are");
    await screenshot(await window.see("› you know who you are"), "denial");
    window.press("Enter");
    await screenshot(await window.see("✗ denied", "you know who you are", "Then I will not.", IDLE), "denied");
    expect(box.requests[1]?.users.at(-1)).toContain("denied: you know who you are");
    expect(box.session().metadata.denials).toMatchObject([{ reason: "you know who you are" }]);
  });

  it("[CRU-15.5.1] [CRU-15.5.2] [CRU-15.5.4] shows the diff and its reversibility, and the agent can be asked first", async () => {
    const write = { name: "write_file", input: { path: ".mcp.json", content: '{\n  "mcpServers": { "new": {} }\n}\n' }, id: "w" };
    const { box, window, say } = await liveChat(
      { rules: [{ match: { last_user: "Before deciding, the user asks" }, replies: [{ text: "It adds **one** server." }] }, { match: {}, by: "call", replies: [{ tools: [write] }, { text: "Written." }, { tools: [{ name: "reflect", input: { goal_achieved: true } }] }] }] },
      { files: { project: { ".mcp.json": '{\n  "mcpServers": {}\n}\n' } } },
    );
    say("add the server");
    const dialog = await window.see("Approval needed", "reversible", '-  "mcpServers": {}', '+  "mcpServers": { "new": {} }', "? ask first");
    await screenshot(dialog, "diff");
    expect(window.raw()).toContain('\u001b[31m-  "mcpServers"');
    expect(window.raw()).toContain('\u001b[32m+  "mcpServers"');
    window.type("?");
    await window.see("What do you want to know?");
    window.type("what does it add?");
    window.press("Enter");
    await window.see("It adds one server.", "a approve");
    expect(readFileSync(join(box.project, ".mcp.json"), "utf8")).not.toContain("new");
    expect(box.session().metadata.status).toBe("waiting");
    window.press("a");
    await window.see("Written.", IDLE);
    expect(readFileSync(join(box.project, ".mcp.json"), "utf8")).toContain("new");
    const { events } = box.session();
    expect(events.find((e) => e.type === "inbox.context")).toMatchObject({ question: "what does it add?", answer: "It adds **one** server." });
    // Asking back left the conversation as it was.
    expect(JSON.stringify(box.requests.at(-1)?.users)).not.toContain("what does it add?");
  });

  it("[CRU-15.5.1] a changed parameter is shown as what it would do now, before it is approved", async () => {
    const write = { name: "write_file", input: { path: ".mcp.json", content: "new" }, id: "w" };
    const { box, window, say } = await liveChat([{ tools: [write] }, { text: "Written." }, { tools: [{ name: "reflect", input: { goal_achieved: true } }] }], { files: { project: { ".mcp.json": "old\n" } } });
    say("write it");
    await window.see("+new", "e edit");
    window.press("e");
    await window.see("▸ path: .mcp.json");
    window.press("Down");
    await window.see("▸ content: new");
    window.press("Enter");
    await window.see("New value");
    window.press("C-u");
    window.type("newest");
    await window.see("› newest");
    window.press("Enter");
    await window.see("▸ content: newest", "a approve with the changes");
    window.press("Escape");
    const dialog = await window.see("-old", "+newest", "a approve with the changes");
    expect(dialog).not.toMatch(/^ *\+new$/m);
    await screenshot(dialog, "change-previewed");
    window.press("a");
    await screenshot(await window.see("✓ write_file  .mcp.json", "+newest", "Written.", IDLE), "change-made");
    expect(readFileSync(join(box.project, ".mcp.json"), "utf8")).toBe("newest");
  });

  it("[CRU-15.5.2] [CRU-15.5.3] what cannot be undone needs its word", async () => {
    const push = { name: "run_command", input: { command: "git push origin main && touch pushed" }, id: "p" };
    const { box, window, say } = await liveChat([{ tools: [push] }, { text: "Not pushed." }, { tools: [{ name: "reflect", input: { goal_achieved: true } }] }]);
    say("publish it");
    await window.see("⚠ cannot be undone", "git push origin main", "a approve");
    window.press("a");
    await screenshot(await window.see("Type run_command to approve"), "confirm");
    window.type("yes");
    window.press("Enter");
    await window.see("✗ type run_command to approve it");
    window.press("Escape");
    await window.see("d deny");
    window.press("d");
    await window.see("Why not?");
    window.press("Enter");
    await window.see("✗ denied", "Not pushed.", IDLE);
    expect(existsSync(join(box.project, "pushed"))).toBe(false);
  });

  it("[CRU-15.4.1] [CRU-15.4.2] an answer from a second terminal wins while the first one waits", async () => {
    const ask = { name: "request_approval", input: { action: "Deploy to staging", reason: "It is ready." }, id: "r" };
    const { box, window, say } = await liveChat([{ tools: [ask] }, { text: "Deployed." }]);
    say("deploy");
    await window.see("Approval needed · primary", "Deploy to staging", "It is ready.", "a approve");
    const listed = JSON.parse((await box.cru(["inbox", "list", "--json"])).stdout) as { items: { id: string }[] };
    const id = listed.items[0]?.id ?? "";
    const other = await box.cru(["inbox", "approve", id]);
    expect(other.stdout).toContain("The agent that asked goes on.");
    await screenshot(await window.see("✓ approved Deploy to staging", "Deployed.", IDLE), "answered-elsewhere");
    const late = await box.cru(["inbox", "deny", id]);
    expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("already answered")]);
  });

  it("answers a question with one of its options; leaving keeps a question for later", async () => {
    const ask = (id: string, question: string) => ({ tools: [{ name: "ask_user", input: { question, options: ["tabs", "spaces"] }, id }] });
    const { box, window, open, say } = await liveChat({ rules: [{ match: {}, by: "turn", replies: [ask("a", "Tabs or spaces?"), ask("b", "Are you sure?"), { text: "Spaces it is." }] }] });
    say("format it");
    await screenshot(await window.see("Question · primary", "1 tabs", "2 spaces", "Your answer"), "question");
    window.type("2");
    window.press("Enter");
    await window.see("✓ answered", "spaces", "Are you sure?", "Your answer");
    window.press("C-d");
    expect(await window.ended()).toBe(0);
    expect(box.session().metadata).toMatchObject({ status: "waiting", owner: null, waiting: [{ title: "Are you sure?" }] });
    const again = open(["--resume", box.session().id]);
    await again.see("going on where it stopped", "Are you sure?", "Your answer");
    again.type("yes");
    again.press("Enter");
    await again.see("Spaces it is.", IDLE);
    again.press("C-d");
    await again.ended();
    expect(box.session().metadata.status).toBe("completed");
  });

  it("allows for this session: the next call like it does not ask, and the trace says why", async () => {
    const { box, window, say } = await liveChat([look("g"), look("h"), { text: "Looked twice." }, look("i"), { text: "Looked again." }], GATED);
    say("look yourself up twice");
    await window.see("s for this session");
    window.press("s");
    await screenshot(await window.see("✓ approved for this session get_agent", "✓ allowed for this session get_agent", "Looked twice.", IDLE), "session");
    const { events } = box.session();
    expect(events.filter((e) => e.type === "inbox.opened")).toHaveLength(1);
    expect(events.find((e) => e.type === "inbox.reused")).toMatchObject({ tool: "get_agent" });
    expect(events.find((e) => e.type === "inbox.closed")).toMatchObject({ decision: "approve", by: "person" });
    say("/revoke");
    const [, id = ""] = /^ {2}([0-9a-f]{8}) {2}get_agent: requires approval {2}gated · used 1×$/m.exec(await window.see("used 1×")) ?? [];
    say(`/revoke ${id}`);
    await window.see("taken back; the next call of that kind asks again");
    say("and again");
    await window.see("Approval needed", "a approve");
    window.press("a");
    await window.see("Looked again.", IDLE);
  });

  it("Esc in a dialog stops the work; the question is withdrawn and nothing ran", async () => {
    const { box, window, say } = await liveChat({ rules: [{ match: { any_user: "something else" }, replies: [{ text: "Gladly." }] }, { match: {}, replies: [look("g")] }] }, GATED);
    say("look yourself up");
    await window.see("a approve");
    window.press("Escape");
    await window.see("■ stopped", IDLE);
    say("do something else");
    await window.see("Gladly.", IDLE);
    const listed = JSON.parse((await box.cru(["inbox", "list", "--json"])).stdout) as { items: { status: string }[] };
    expect(listed.items).toMatchObject([{ status: "withdrawn" }]);
    expect(JSON.stringify(box.requests.at(-1)?.users)).not.toContain("PROMPT-OF-gated");
  });
});
