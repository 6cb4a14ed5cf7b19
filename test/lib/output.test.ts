import { spawn } from "node:child_process";
import { closeSync, constants, openSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { finish, machine, repository } from "../support/cru.ts";
import { temporaryFolder } from "../support/temp.ts";

const PATH = process.env.PATH ?? "";
const main = join(repository, "dist", "main.js");
let source = "";

beforeAll(async () => {
  const { outputFiles } = await build({ entryPoints: [join(repository, "src/lib/output.ts")], bundle: true, platform: "node", format: "cjs", write: false });
  source = outputFiles[0]?.text ?? "";
});

/** A program that writes `script` with the real module. */
function program(script: string): string {
  const file = join(temporaryFolder(), "program.cjs");
  writeFileSync(file, `{${source}}\n{ const { write, isTerminal } = module.exports;\n${script} }`);
  return file;
}

describe("output", () => {
  it("arrives whole and in order in a pipe that is read slowly", async () => {
    const file = program(`for (let i = 0; i < 5000; i++) write("stdout", String(i).padStart(99) + "\\n");`);
    const run = await finish("sh", ["-c", `'${process.execPath}' '${file}' | (sleep 0.2; cat)`], { cwd: "/", env: { PATH } });
    expect(run.stdout).toBe(Array.from({ length: 5000 }, (_, i) => `${String(i).padStart(99)}\n`).join(""));
  });

  it("arrives whole and in order where the pipe does not wait for its reader", async () => {
    const file = program(`for (let i = 0; i < 5000; i++) write("stdout", String(i).padStart(99) + "\\n");`);
    const pipe = join(temporaryFolder(), "pipe");
    await finish("mkfifo", [pipe], { cwd: "/", env: { PATH } });
    const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    const child = spawn(process.execPath, [file], { stdio: ["ignore", end, "inherit"] });
    let over = false;
    const ended = new Promise<number | null>((done) => child.once("close", done)).finally(() => (over = true));
    let text = "";
    const chunk = Buffer.alloc(4096);
    while (text.length < 500_000) {
      try {
        text += chunk.toString("latin1", 0, readSync(end, chunk));
      } catch {
        if (over) break;
        await wait(1);
      }
    }
    expect(await ended).toBe(0);
    closeSync(end);
    expect(text).toBe(Array.from({ length: 5000 }, (_, i) => `${String(i).padStart(99)}\n`).join(""));
  });

  it("to a reader that went away ends the program without a word", async () => {
    const file = program(`for (let i = 0; i < 50000; i++) write("stdout", "line\\n"); write("stderr", "still here");`);
    const run = await finish("bash", ["--norc", "-c", `'${process.execPath}' '${file}' | head -n 1; echo "\${PIPESTATUS[0]}"`], { cwd: "/", env: { PATH } });
    expect(run).toEqual({ code: 0, stdout: "line\n0\n", stderr: "" });
  });

  it("to a reader that went away ends work as a signal would: in order, and not as if all were well", async () => {
    const file = program(`process.once("SIGTERM", () => { write("stderr", "ended in order"); process.exitCode = 130; }); for (let i = 0; i < 50000; i++) write("stdout", "line\\n");`);
    const run = await finish("bash", ["--norc", "-c", `'${process.execPath}' '${file}' | head -n 1; echo "\${PIPESTATUS[0]}"`], { cwd: "/", env: { PATH } });
    expect(run).toEqual({ code: 0, stdout: "line\n130\n", stderr: "ended in order" });
  });

  it("knows a terminal from a file, a pipe and /dev/null", async () => {
    const file = program(`write("stderr", [0, 1, 2].map((f) => isTerminal(f)).join());`);
    const run = await finish("sh", ["-c", `'${process.execPath}' '${file}' < /dev/null > /dev/null`], { cwd: "/", env: { PATH } });
    expect(run.stderr).toBe("false,false,false");
  });

  it("of the program goes the same way", async () => {
    const { home, project } = machine();
    const run = await finish("bash", ["--norc", "-c", `'${process.execPath}' '${main}' agents list --json | head -c 1; echo " \${PIPESTATUS[0]}"`], { cwd: project, env: { PATH, HOME: home } });
    expect(run).toEqual({ code: 0, stdout: "{ 0\n", stderr: "" });
  });
});
