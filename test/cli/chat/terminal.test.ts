import { spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ScriptedReply } from "../../../src/scripted/script.ts";
import { chatMachine } from "../../support/chat.ts";
import { repository } from "../../support/cru.ts";
import { agentIn, held, IDLE, liveChat } from "../../support/live-chat.ts";
import { until } from "../../support/processes.ts";
import { masked, NO_TMUX, openWindow, TERMINAL_TIMEOUT } from "../../support/tmux.ts";

async function screenshot(screen: string, name: string): Promise<void> {
  await expect(`${masked(screen)}\n`).toMatchFileSnapshot(`screens/${name}.txt`);
}

const echo = { rules: [{ match: {}, by: "call" as const, repeat_last: true, replies: [{ text: "heard" }] }] };

describe.skipIf(NO_TMUX !== undefined)("the terminal of a chat", { timeout: TERMINAL_TIMEOUT }, () => {
  it("takes several lines, goes back in history, and edits", async () => {
    const { box, window, say } = await liveChat(echo);
    window.type("first");
    window.press("M-Enter");
    window.type("second\\");
    window.press("Enter");
    window.type("thirt");
    window.press("BSpace");
    window.type("d");
    window.press("Enter");
    await window.see("heard", IDLE);
    expect(box.requests[0]?.users).toEqual(["first\nsecond\nthird"]);
    expect(window.screen()).toContain("› first\n  second\n  third\n");
    say("another");
    await until(() => box.requests.length === 2);
    await window.see(IDLE);
    window.type("draft");
    window.press("Up");
    await window.see("› another\n  /help");
    window.press("Up");
    await window.see("› first\n  second\n  third\n  /help");
    window.press("Down", "Down", "Down", "Down");
    await window.see("› draft\n");
    window.press("C-u");
    window.press("C-d");
    expect(await window.ended()).toBe(0);
  });

  it("shows a large paste as one line and sends it whole", async () => {
    const { box, window } = await liveChat(echo);
    const pasted = Array.from({ length: 2000 }, (_, i) => `line ${i} ${"x".repeat(42)}`).join("\n");
    expect(pasted.length).toBeGreaterThan(100_000);
    window.type("explain ");
    window.paste(pasted);
    await window.see("› explain [pasted 2,000 lines]");
    window.type(" please");
    window.press("Enter");
    await window.see("heard", IDLE);
    expect(box.requests[0]?.users).toEqual([`explain ${pasted} please`]);
  });

  it("a paste is text: nothing in it presses a key", async () => {
    const { box, window } = await liveChat(echo);
    window.paste("one\rtwo \u001b[A \u0003 \u0004");
    await window.see("› one\n  two ␛[A ␃ ␄");
    expect(box.requests).toHaveLength(0);
  });

  it("fits the terminal after each resize, with a long answer and a dialog", async () => {
    const ask = { tools: [{ name: "request_approval", input: { action: "Deploy", reason: Array.from({ length: 60 }, (_, i) => `step ${i}`).join("\n") }, id: "r" }] };
    const { window, say } = await liveChat([ask, { text: "Deployed." }]);
    say("deploy");
    await window.see("step 0", "more lines, ↓ scrolls", "a approve");
    window.resize(44, 14);
    // tmux cuts the old picture at once; only a new one has the end of its title inside the width.
    await window.see("Approval needed", /^── .{1,41} ──$/m, "step 0", "a approve");
    window.press("NPage", "NPage");
    await window.see("step 16");
    window.resize(100, 30);
    const wide = await window.see("Approval needed", "step 20", "a approve   d deny");
    expect(wide.split("\n").length).toBeLessThanOrEqual(30);
    expect(wide.match(/Approval needed/g)).toHaveLength(1);
    window.press("a");
    await window.see("Deployed.", IDLE);
    window.resize(80, 24);
    expect((await window.see("Deployed.", /^─{79}$/m)).match(/ask, or \/help/g)).toHaveLength(1);
  });

  it("fits forty columns: every picture is drawn in its own place", async () => {
    const first = held<ScriptedReply>({ tools: [{ name: "request_approval", input: { action: "Deploy", reason: "now" }, id: "r" }] });
    const { window, say } = await liveChat({ rules: [{ match: { last_user: "approved" }, replies: [{ text: "Deployed." }] }, { match: {}, replies: () => first.wait }] }, { columns: 40, rows: 16, ready: IDLE });
    say("deploy it, please, and say so at some length");
    // Drawn again and again meanwhile.
    await window.see(/thinking (?:[2-9]|\d\d+) s/);
    expect(window.all().match(/^─{39}$/gm)).toHaveLength(1);
    first.release();
    await screenshot(await window.see("Approval needed", "a approve"), "narrow");
    window.press("a");
    const done = await window.see("Deployed.", IDLE);
    expect(done.match(/^─{39}$/gm)).toHaveLength(1);
  });

  it("/ shows the commands and @ the files; Tab takes one, ↑ takes back what still waits", async () => {
    const never = held<ScriptedReply>({ text: "never" });
    const { box, window, say } = await liveChat({ rules: [{ match: { any_user: "for ever" }, replies: () => never.wait }, { match: {}, by: "call", repeat_last: true, replies: [{ text: "heard" }] }] }, { files: { project: { "src/utils/parse.ts": "1\n", "src/parser.ts": "2\n", "README.md": "3\n" } } });
    window.type("/");
    await screenshot(await window.see("▸ /model", "/help"), "commands");
    window.type("c");
    await window.see("▸ /cost");
    window.press("Enter");
    await window.see("all  0 tok");
    window.type("what is in @pars");
    await window.see("▸ src/parser.ts", "src/utils/parse.ts");
    window.press("Down", "Tab");
    await window.see("› what is in @src/utils/parse.ts");
    window.press("Enter");
    await window.see("heard", IDLE);
    expect(box.requests[0]?.users).toEqual(["what is in @src/utils/parse.ts "]);
    say("work for ever");
    await until(() => box.requests.length === 2);
    say("and then this");
    await window.see("and then this  waits for the next step");
    window.press("Up");
    const back = await window.see("› and then this\n");
    expect(back).not.toContain("waits for the next step");
    never.release();
  });

  it("what was said in earlier conversations comes back with ↑", async () => {
    const { box, window, open, say } = await liveChat(echo);
    say("the first conversation");
    await window.see("heard", IDLE);
    window.press("C-d");
    expect(await window.ended()).toBe(0);
    const again = open();
    await again.see(IDLE);
    // They are read in the background, after the prompt stands.
    for (let n = 0; n < 200 && !again.screen().includes("› the first conversation"); n++) {
      again.press("Up");
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await again.see("› the first conversation\n");
    expect(box.sessions()).toHaveLength(1);
  });

  it("NO_COLOR: not one colour", async () => {
    const { window, say } = await liveChat([{ text: "**bold** and `code`\n\n```ts\nconst a = 1;\n```" }], { env: { NO_COLOR: "1" } });
    say("hi");
    await window.see("const a = 1;", IDLE);
    expect(window.raw()).not.toContain("\u001b");
  });

  it("text of a model, a tool and an agent can neither colour, move, retitle nor reorder", async () => {
    const evil = "\u001b[31mred\u001b[2J\u001b]0;title\u0007 \u202etxt.exe\u202c over\rwrite \u009b5m";
    const { window, say } = await liveChat(
      [{ text: evil, tools: [{ name: "get_agent", input: { name: evil }, id: "g" }, { name: "request_approval", input: { action: `Deploy ${evil}`, reason: evil }, id: "r" }] }, { text: "done" }],
      { env: { NO_COLOR: "1" }, files: { home: agentIn("scout") }, columns: 110 },
    );
    say("hi");
    const screen = await window.see("Approval needed", "a approve");
    expect(window.raw()).not.toContain("\u001b");
    expect(screen).toContain("␛[31mred␛[2J␛]0;title␇ <U+202E>txt.exe<U+202C> over␍write <U+009B>5m");
    window.press("a");
    await window.see("done", IDLE);
  });

  it("what is being typed when a question comes stays typed", async () => {
    const first = held<ScriptedReply>({ tools: [{ name: "request_approval", input: { action: "Deploy", reason: "now" }, id: "r" }] });
    const { box, window, say } = await liveChat({ rules: [{ match: { last_user: "approved" }, replies: [{ text: "Deployed." }] }, { match: {}, replies: () => first.wait }] });
    say("deploy");
    await until(() => box.requests.length === 1);
    window.type("aaaa");
    await window.see("› aaaa");
    first.release();
    await window.see("Approval needed", "a approve");
    expect(box.session().metadata.status).toBe("waiting");
    window.press("a");
    await window.see("Deployed.", "› aaaa");
  });

  it("Ctrl-C twice leaves, and the terminal is as it was", async () => {
    const { box, window, say } = await liveChat(echo);
    say("hello");
    await window.see("heard", IDLE);
    window.press("C-c");
    await window.see("Ctrl-C again leaves");
    window.type("x");
    await window.see("› x", IDLE);
    window.press("C-c");
    await window.see("Ctrl-C again leaves", "› ask, or /help");
    window.press("C-c");
    expect(await window.ended()).toBe(130);
    const screen = await window.see("icanon echo");
    expect(screen).toContain(`cru chat --resume ${box.session().id}`);
    expect(box.session().metadata).toMatchObject({ status: "completed", owner: null });
  });

  it("Ctrl-Z where no shell can bring it back changes nothing", async () => {
    const { box, window } = await liveChat(echo);
    window.press("C-z");
    window.type("still here");
    await window.see("› still here\n", IDLE);
    window.press("Enter");
    await window.see("heard", IDLE);
    expect(box.requests[0]?.users).toEqual(["still here"]);
  });

  it("a signal saves the session and gives the terminal back", async () => {
    const never = held<ScriptedReply>({ text: "never" });
    const { box, window, say } = await liveChat(() => never.wait);
    say("work for ever");
    await until(() => box.requests.length === 1);
    process.kill(box.session().metadata.owner?.pid ?? 0, "SIGTERM");
    expect(await window.ended()).toBe(130);
    await window.see("icanon echo");
    expect(box.session().metadata).toMatchObject({ status: "interrupted", owner: null });
    never.release();
  });

  it("a mistake in the settings is told as everywhere else, with the terminal as it was", async () => {
    const box = await chatMachine(echo);
    const window = openWindow(["chat", "--agent", "nobody"], { cwd: box.project, env: { HOME: box.home, ...box.env } });
    expect(await window.ended()).toBe(2);
    await window.see("agent not found", "icanon echo");
  });

  it("a terminal that cannot move its cursor gets the plain conversation", async () => {
    const box = await chatMachine(echo);
    const window = openWindow(["chat"], { cwd: box.project, env: { HOME: box.home, ...box.env, TERM: "dumb" } });
    window.type("hello");
    window.press("Enter");
    await window.see(/^heard$/m);
    window.press("C-d");
    expect(await window.ended()).toBe(0);
  });

  it("/help names every command and key", async () => {
    const { window, say } = await liveChat(echo);
    say("/help");
    const screen = await window.see("/model", "/plan", "/cost", "/trace", "/inbox", "/exit", "Ctrl-O", "Alt+Enter");
    await expect(`${masked(screen)}\n`).toMatchFileSnapshot("screens/help.txt");
  });
});

describe("the plain conversation", () => {
  it("[CRU-8.1.1] [CRU-8.2.1] has one line per event and not one escape sequence, and asks and answers in lines", async () => {
    const box = await chatMachine(
      {
        rules: [
          { match: { system: "PROMPT-OF-scout" }, replies: [{ text: "\u001b[31mDetails\n\n## Summary\n\nNothing found." }] },
          {
            match: {},
            by: "call",
            replies: [
              { text: "Looking.", tools: [{ name: "spawn_agent", input: { agent: "scout", task: "look" }, id: "s" }, { name: "get_agent", input: { name: "gated" }, id: "g" }] },
              { tools: [{ name: "ask_user", input: { question: "Go on?" }, id: "q" }] },
              { text: "Went **on**." },
            ],
          },
        ],
      },
      { home: { ...agentIn("scout"), ...agentIn("gated", { requires_approval: "[get_agent]" }) } },
    );
    const child = spawn(process.execPath, [join(repository, "dist/main.js"), "chat", "--plain", "--agent", "gated"], { cwd: box.project, env: { PATH: process.env.PATH, HOME: box.home, TERM: "xterm", ...box.env } });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    child.stdin.write("look around\n");
    await until(() => text.includes("answer with: approve"));
    child.stdin.write("approve name=\n");
    await until(() => text.includes("✗ name:"));
    child.stdin.write("approve name=scout\n");
    await until(() => text.includes("answer in words"));
    child.stdin.write("yes, go on\n");
    await until(() => text.includes("Went on."));
    child.stdin.end();
    expect(await ended).toBe(0);
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    const lines = text.trimEnd().split("\n");
    expect(Math.max(...lines.map((l) => l.length))).toBeLessThan(200);
    for (const wanted of ["→ Running scout agent...", "  Nothing found.", '    changed: name: "gated" → "scout"', "? question from gated: Go on?", "  ✓ answered Go on? · yes, go on", "Went on."]) expect(lines).toContain(wanted);
    expect(lines.filter((l) => l.trim() === "")).toEqual([]);
    expect(box.session().metadata.status).toBe("completed");
  });

  it("input that ends leaves a question for later, with exit code 4", async () => {
    const box = await chatMachine([{ tools: [{ name: "ask_user", input: { question: "Go on?" }, id: "q" }] }, { text: "ok" }]);
    const first = await box.cru(["chat", "--plain"], { env: box.env, input: "start\n" });
    expect([first.code, first.stdout]).toEqual([4, expect.stringContaining("? question from primary: Go on?")]);
    expect(box.session().metadata.status).toBe("waiting");
  });
});
