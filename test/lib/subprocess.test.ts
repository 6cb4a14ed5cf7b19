import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runProgram, startBackground, startProgram } from "../../src/lib/subprocess.ts";
import { isAlive, until } from "../support/processes.ts";
import { temporaryFolder } from "../support/temp.ts";

const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
const sh = (script: string, options: Partial<Parameters<typeof runProgram>[2]> = {}) => runProgram("/bin/sh", ["-c", script], { env, ...options });
const node = (script: string, options: Partial<Parameters<typeof runProgram>[2]> = {}) =>
  runProgram(process.execPath, ["-e", script], { env, ...options });

describe("runProgram", () => {
  it("gives exit code, both streams and a duration", async () => {
    const result = await sh("echo out; echo err >&2; exit 7");
    expect(result).toMatchObject({ code: 7, signal: null, stdout: "out\n", stderr: "err\n", timedOut: false, aborted: false, truncated: false, failure: null });
    expect(result.durationMs).toBeGreaterThan(0);
  });

  it("passes exactly the given environment", async () => {
    process.env.CRU_TEST_CANARY = "leaked";
    const result = await runProgram("/usr/bin/env", [], { env: { ONLY: "this" } });
    delete process.env.CRU_TEST_CANARY;
    expect(result.stdout).toBe("ONLY=this\n");
  });

  it.each([
    ["a missing program", "/no/such/program", {}, { notFound: true, failure: { code: "ENOENT", message: "/no/such/program was not found" } }],
    ["a missing folder", "/bin/true", { cwd: "/no/such/folder" }, { notFound: false, failure: { code: "ENOTDIR", message: "the folder /no/such/folder does not exist" } }],
    ["a file that is no program", "/etc/passwd", {}, { notFound: false, failure: { code: "EACCES" } }],
    ["a NUL in the name", "/bin/tr\0ue", {}, { notFound: false, failure: { code: "ERR_INVALID_ARG_VALUE" } }],
  ])("returns a value for %s", async (_, command, options, expected) => {
    expect(await runProgram(command, [], { env, ...options })).toMatchObject({ code: null, ...expected });
  });

  it("returns a value for arguments that the kernel refuses as too long", async () => {
    const result = await runProgram("/bin/true", ["x".repeat(300_000)], { env });
    expect(result).toMatchObject({ code: null, notFound: false, failure: { code: "E2BIG" } });
  });

  it("survives a program that ends without reading its input", async () => {
    expect(await sh("exit 3", { input: "x".repeat(5_000_000) })).toMatchObject({ code: 3 });
  });

  it("hands the input over and closes it", async () => {
    expect((await runProgram("/bin/cat", [], { env, input: "größe" })).stdout).toBe("größe");
    expect((await runProgram("/bin/cat", [], { env })).stdout).toBe("");
  });

  it("joins characters that arrive in pieces", async () => {
    const pieces: string[] = [];
    const script = `const b = Buffer.from("a€b"); let i = 0; const t = setInterval(() => { if (i === b.length) clearInterval(t); else process.stdout.write(b.subarray(i, ++i)); }, 15);`;
    const result = await node(script, { onOutput: (_, text) => pieces.push(text) });
    expect(result.stdout).toBe("a€b");
    expect(pieces.join("")).toBe("a€b");
    expect(pieces.every((p) => !p.includes("\ufffd"))).toBe(true);
  });

  it("turns invalid UTF-8 into replacement characters and keeps NUL bytes", async () => {
    const result = await sh(String.raw`printf 'a\377\000b'`);
    expect(result.stdout).toBe("a\ufffd\0b");
  });

  it("keeps head and tail of 100 MB in bounded memory and says how much was cut", async () => {
    const before = process.memoryUsage().rss;
    const result = await sh("echo first; head -c 104857600 /dev/zero | tr '\\0' x; echo; echo last", { maxBytes: 10_000 });
    expect(result.truncated).toBe(true);
    expect(result.stdout.startsWith("first\n")).toBe(true);
    expect(result.stdout.endsWith("x\nlast\n")).toBe(true);
    expect(result.stdout).toContain(`[… ${104_857_600 + 6 + 6 - 10_000} bytes cut …]`);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 2 ** 20);
  });

  it("keeps only the tail when asked", async () => {
    const result = await sh("seq 1 100000", { maxBytes: 20, keep: "tail" });
    expect(result.stdout).toMatch(/^\[… \d+ bytes cut …\]\n/);
    expect(result.stdout.endsWith("99999\n100000\n")).toBe(true);
  });

  it("never cuts inside a character", async () => {
    for (const maxBytes of [100, 101, 102, 103]) {
      const result = await sh("i=0; while [ $i -lt 200 ]; do printf '€'; i=$((i+1)); done", { maxBytes });
      expect(result.stdout).not.toContain("\ufffd");
    }
  });

  it("ends the whole group on timeout, also what ignores SIGTERM", async () => {
    const pids = join(temporaryFolder(), "pids");
    const result = await sh(`trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! > ${pids}; echo $$ >> ${pids}; while :; do sleep 1; done`, { timeoutMs: 300 });
    expect(result).toMatchObject({ timedOut: true, code: null, signal: "SIGKILL" });
    expect(readPids(pids).filter(isAlive)).toEqual([]);
  });

  it("lets a program end politely on abort", async () => {
    const stop = new AbortController();
    const result = await sh("trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.05; done", {
      signal: stop.signal,
      onOutput: (_, text) => text.includes("ready") && stop.abort(),
    });
    expect(result).toMatchObject({ aborted: true, timedOut: false, code: 5, stdout: "ready\nbye\n" });
  });

  it("starts nothing when it is aborted already", async () => {
    const file = join(temporaryFolder(), "ran");
    expect(await sh(`touch ${file}`, { signal: AbortSignal.abort() })).toMatchObject({ aborted: true, code: null });
    expect(existsSync(file)).toBe(false);
  });

  it("leaves no child of the group behind after a normal end, and does not wait for it", async () => {
    const pids = join(temporaryFolder(), "pids");
    const result = await sh(`sleep 600 & echo $! > ${pids}; nohup sleep 600 >/dev/null 2>&1 & echo $! >> ${pids}; echo done`);
    expect(result).toMatchObject({ code: 0, stdout: "done\n" });
    await until(() => readPids(pids).every((pid) => !isAlive(pid)));
  });

  it("does not hang on a child that left the group and holds the pipe", async () => {
    const pids = join(temporaryFolder(), "pids");
    const result = await sh(`setsid sh -c 'echo $$ > ${pids}; exec sleep 600' & while [ ! -s ${pids} ]; do sleep 0.02; done; echo done`);
    expect(result).toMatchObject({ code: 0, stdout: "done\n" });
    for (const pid of readPids(pids)) process.kill(pid, "SIGKILL");
  });
});

describe("startProgram", () => {
  it("speaks over further descriptors", async () => {
    const program = startProgram("/bin/sh", ["-c", "echo r >&3; read -r word <&3 || exit 125; echo got $word"], { env, pipes: 1 });
    let output = "";
    program.stdout?.on("data", (chunk) => (output += String(chunk)));
    program.pipes[0]?.once("data", () => program.pipes[0]?.write("go\n"));
    expect(await program.ended).toEqual({ code: 0, signal: null, failure: null });
    expect(output).toBe("got go\n");
  });

  it("ends what it started when its own process ends", async () => {
    const folder = temporaryFolder();
    const script = join(folder, "parent.mts");
    const url = new URL("../../src/lib/subprocess.ts", import.meta.url).pathname;
    const bundle = join(folder, "parent.mjs");
    writeFileSync(script, `import { startProgram } from ${JSON.stringify(url)};
      const p = startProgram("/bin/sleep", ["600"], { env: {} }); console.log(p.pid); setTimeout(() => process.exit(0), 50);`);
    const { build } = await import("esbuild");
    await build({ entryPoints: [script], outfile: bundle, bundle: true, format: "esm", platform: "node" });
    const result = await runProgram(process.execPath, [bundle], { env });
    const pid = Number(result.stdout);
    expect(pid).toBeGreaterThan(1);
    await until(() => !isAlive(pid));
  });
});

describe("startBackground", () => {
  it("writes the output of a program that goes on alone into a file", async () => {
    const folder = temporaryFolder();
    const pid = await startBackground("/bin/sh", ["-c", "echo hello; echo oops >&2"], { cwd: folder, env, logFile: join(folder, "log") });
    expect(pid).toBeGreaterThan(1);
    await until(() => readFileSync(join(folder, "log"), "utf8") === "hello\noops\n");
  });

  it("says undefined when there is no such program", async () => {
    const folder = temporaryFolder();
    expect(await startBackground("/no/such", [], { cwd: folder, env, logFile: join(folder, "log") })).toBeUndefined();
  });
});

function readPids(path: string): number[] {
  return readFileSync(path, "utf8").trim().split("\n").map(Number);
}
