import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatMachine } from "../support/chat.ts";
import { finish, repository } from "../support/cru.ts";

const main = join(repository, "dist", "main.js");
const SCRIPT = [{ text: "Read." }];

describe("what is piped into cru chat", () => {
  it("is sent below the message", async () => {
    const box = await chatMachine(SCRIPT);
    expect(await box.chat(["review", "it"], { input: "+ a line\n  - another\n\n" })).toMatchObject({ code: 0, stdout: "Read.\n" });
    expect(box.session().metadata.request).toBe("review it\n\n+ a line\n  - another");
    expect(box.requests.at(-1)?.users).toEqual(["review it\n\n+ a line\n  - another"]);
  });

  it("is the message when there is no other, and nothing when it is empty", async () => {
    const box = await chatMachine([{ text: "One." }, { text: "Two." }]);
    expect(await box.chat([], { input: "what is this?\n" })).toMatchObject({ code: 0, stdout: "One.\n" });
    expect(box.session().metadata.request).toBe("what is this?");
    expect(await box.chat(["hello"], { input: " \n" })).toMatchObject({ code: 0 });
    expect(box.requests.at(-1)?.users).toEqual(["hello"]);
    expect(await box.chat([])).toMatchObject({ code: 2, stderr: expect.stringContaining("chat needs a message") });
  });

  it("may be a file", async () => {
    const box = await chatMachine(SCRIPT);
    writeFileSync(join(box.project, "log.txt"), "line one\n");
    const run = await finish("sh", ["-c", 'exec "$0" "$@" < log.txt', process.execPath, main, "chat", "-p", "why?"], { cwd: box.project, env: { PATH: process.env.PATH ?? "", HOME: box.home, ...box.env } });
    expect(run).toMatchObject({ code: 0, stdout: "Read.\n" });
    expect(box.session().metadata.request).toBe("why?\n\nline one");
  });

  it("a pipe that stays open and silent holds nobody up, and that is said", async () => {
    const box = await chatMachine(SCRIPT);
    const child = spawn(process.execPath, [main, "chat", "-p", "hello"], { cwd: box.project, env: { PATH: process.env.PATH ?? "", HOME: box.home, ...box.env }, stdio: "pipe" });
    let [out, err] = ["", ""];
    child.stdout.on("data", (text) => (out += String(text)));
    child.stderr.on("data", (text) => (err += String(text)));
    const code = await new Promise((done) => child.on("close", done));
    expect({ code, out }).toEqual({ code: 0, out: "Read.\n" });
    expect(err).toContain("note: standard input is open but nothing came");
  });

  it("a finished session says its answer again, and that there is nothing to go on with", async () => {
    const box = await chatMachine(SCRIPT);
    const { stdout } = await box.chat(["hello"]);
    const { id } = box.session();
    const asked = box.requests.length;
    expect(await box.chat(["--resume", id])).toMatchObject({ code: 0, stdout, stderr: expect.stringContaining(`finished already; to go on: cru chat --resume ${id} "…"`) });
    expect(box.requests).toHaveLength(asked);
    expect(box.session().metadata.status).toBe("completed");
  });
});
