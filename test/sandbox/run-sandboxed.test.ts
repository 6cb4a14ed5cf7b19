import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runProgram, startProgram } from "../../src/lib/subprocess.ts";
import { readMarker } from "../../src/sandbox/marker.ts";
import { runSandboxed, type SandboxedOptions } from "../../src/sandbox/run-sandboxed.ts";
import type { SandboxSpec } from "../../src/sandbox/spec.ts";
import { repository } from "../support/cru.ts";
import { isAlive, until } from "../support/processes.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

function place(files: Record<string, string> = {}) {
  const home = temporaryFolder();
  const workspace = temporaryFolder();
  writeFiles(home, { ".ssh/id_rsa": "home-canary" });
  writeFiles(workspace, { "a.txt": "a\n", ...files });
  const run = (command: string, spec: Partial<SandboxSpec> = {}, options: Partial<SandboxedOptions> = {}) =>
    runSandboxed({ workspace, writable: true, home, ...spec }, ["/bin/sh", "-c", command], { mode: "required", ...options });
  return { home, workspace, run };
}

/** Host processes whose command line holds the word. */
function withWord(word: string): number[] {
  return readdirSync("/proc").filter((n) => /^\d+$/.test(n)).map(Number).filter((pid) => {
    try {
      return pid !== process.pid && isAlive(pid) && readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(word);
    } catch {
      return false;
    }
  });
}

describeSandboxed("runSandboxed", () => {
  it("works in the workspace and gives back exit code and output", async () => {
    const { run, workspace } = place();
    expect(await run("cat a.txt; echo e >&2; echo b > b.txt; pwd; exit 4")).toMatchObject({ code: 4, stdout: `a\n${workspace}\n`, stderr: "e\n", sandboxed: true, appeared: [] });
    expect(readFileSync(join(workspace, "b.txt"), "utf8")).toBe("b\n");
  });

  it("S14: shows neither home nor anything else outside, by path, link or /proc", async () => {
    const { run, home, workspace } = place();
    const other = temporaryFolder();
    writeFiles(other, { "canary.txt": "main-canary" });
    symlinkSync(join(other, "canary.txt"), join(workspace, "link"));
    const result = await run(`cat ${home}/.ssh/id_rsa ${other}/canary.txt link /proc/1/root${other}/canary.txt /proc/${process.pid}/root${other}/canary.txt /etc/shadow; ls ${home} /home /root /var; cat ${repository}/package.json`);
    expect(result.stdout + result.stderr).not.toMatch(/canary"|-canary|"crucible"/);
    expect(result.stdout.replace(/^.*:$/gm, "").trim()).toBe("");
  });

  it("S14: no login of a package tool can be read, wherever tools keep it", async () => {
    const { run, home } = place();
    const logins = [
      ".npmrc", ".yarnrc.yml", ".netrc", ".pypirc", ".git-credentials", ".cargo/credentials.toml", ".cargo/config.toml", ".config/pip/pip.conf", ".config/gh/hosts.yml", ".docker/config.json", ".aws/credentials",
      ".pyenv/.git/config", ".pyenv/versions/3.12/pip.conf", ".nvm/versions/node/v20/etc/npmrc", ".local/share/mise/installs/node/20/etc/npmrc", ".local/bin/.env",
    ];
    writeFiles(home, Object.fromEntries([...logins.map((name) => [name, "login-canary"]), [".pyenv/shims/tool", "#!/bin/sh\n"], [".pyenv/versions/3.12/lib/x.py", "library"]]));
    const saved = process.env.PATH;
    process.env.PATH = [".pyenv/shims", ".nvm/versions/node/v20/bin", ".local/share/mise/shims", ".cargo/bin", ".local/bin"].map((name) => join(home, name)).concat(saved ?? "").join(":");
    try {
      const result = await run(`cat ${home}/.pyenv/versions/3.12/lib/x.py; grep -rs canary ${home} /etc/ssl /etc/pki; for f in ${logins.join(" ")}; do cat ${home}/$f; done`);
      expect(result.stdout).toBe("library");
      expect(result.stderr).toContain("pip.conf: Permission denied");
    } finally {
      process.env.PATH = saved;
    }
  });

  it("S14: writes nothing outside the workspace", async () => {
    const { run, home, workspace } = place();
    const other = temporaryFolder();
    symlinkSync(other, join(workspace, "out"));
    const result = await run(`for f in ${other}/x out/x ${home}/.bashrc /usr/bin/x /etc/x /x /run/x /run/crucible/x; do echo bad > $f && echo wrote $f; done; echo ok > /tmp/x && cat /tmp/x`);
    expect(result.stdout).toBe(`wrote ${home}/.bashrc\nok\n`);
    expect([readdirSync(other), readdirSync(home), existsSync("/run/crucible"), existsSync("/usr/bin/x")]).toEqual([[], [".ssh"], false, false]);
  });

  it("cannot regain rights: no capability, no remount, no new namespace, not root", async () => {
    const { run } = place();
    const result = await run("grep CapEff /proc/self/status; mount -o remount,rw /usr; mount -t tmpfs none /mnt; unshare -U true && echo nested; id -u; whoami");
    expect(result.stdout).toMatch(/^CapEff:\s+0{16}\n\d+\nagent\n$/);
    expect(result.stdout).not.toContain("\n0\n");
  });

  it("protected paths cannot be written, removed, replaced or renamed", async () => {
    const { run, workspace } = place({ ".git/config": "[core]\n", ".git/hooks/x": "", ".crucible/config.yaml": "m\n", ".coven/a": "", ".claude/s": "", ".mcp.json": "{}", ".beads/i": "" });
    const result = await run("for p in .git/config .git/hooks/pre-commit .crucible/config.yaml .coven/new .claude/s .mcp.json .beads/i; do echo bad > $p && echo wrote $p; done; for p in .git .crucible .coven .claude .mcp.json .beads; do rm -rf $p; mv $p moved && echo moved $p; done; mkdir real; mv -T real .git && echo replaced; true");
    expect(result.stdout).toBe("");
    expect(result.appeared).toEqual([]);
    expect(readFileSync(join(workspace, ".git/config"), "utf8")).toBe("[core]\n");
    expect(readFileSync(join(workspace, ".mcp.json"), "utf8")).toBe("{}");
    expect(readdirSync(join(workspace, ".git/hooks"))).toEqual(["x"]);
  });

  it("makes a protected path writable when somebody agreed, and only that one", async () => {
    const { run, workspace } = place({ ".git/config": "", ".coven/a": "" });
    await run("echo new > .git/config; echo new > .coven/a", { allowProtected: [".git"] });
    expect([readFileSync(join(workspace, ".git/config"), "utf8"), readFileSync(join(workspace, ".coven/a"), "utf8")]).toEqual(["new\n", ""]);
  });

  it("moves protected paths that a command made out of the workspace and says so", async () => {
    const { run, workspace, home } = place();
    symlinkSync("elsewhere", join(workspace, ".claude"));
    const asideFolder = join(home, "aside");
    const result = await run("mkdir -p .coven/grimoires; echo evil > .coven/grimoires/x.yaml; echo '{}' > .mcp.json; ln -sfn /etc .claude", {}, { asideFolder });
    expect(result.appeared.map((a) => a.name).toSorted()).toEqual([".claude", ".coven", ".mcp.json"]);
    expect(readdirSync(workspace)).toEqual(["a.txt"]);
    const coven = result.appeared.find((a) => a.name === ".coven");
    expect(coven?.movedTo.startsWith(asideFolder)).toBe(true);
    expect(readFileSync(join(coven?.movedTo ?? "", "grimoires/x.yaml"), "utf8")).toBe("evil\n");
  });

  it("mounts the workspace read-only on demand", async () => {
    const { run, workspace } = place();
    expect((await run("cat a.txt; echo x > b.txt", { writable: false })).code).not.toBe(0);
    expect(readdirSync(workspace)).toEqual(["a.txt"]);
  });

  it("has no network: a server of this machine cannot be reached", async () => {
    const { run } = place();
    const server = createServer((_, response) => response.end("reached")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const script = `fetch("http://127.0.0.1:${port}").then((r) => r.text()).then(console.log, (e) => console.log(e.cause.code))`;
    const outside = await runProgram(process.execPath, ["-e", script], { env: {} });
    const inside = await run(`node -e '${script}'`);
    server.close();
    expect([outside.stdout, inside.stdout]).toEqual(["reached\n", "ECONNREFUSED\n"]);
  });

  it("S17: nothing of this process's environment goes in, and nothing given stands on a command line", async () => {
    const { run } = place();
    process.env.ANTHROPIC_API_KEY = "sk-canary-outside";
    const result = await run("env | sort | cut -d= -f1; cat /proc/1/cmdline | tr '\\0' ' '; cat /proc/1/environ | tr '\\0' ' '", {}, { env: { GIVEN: "given-canary" } });
    delete process.env.ANTHROPIC_API_KEY;
    expect(result.stdout).not.toContain("sk-canary-outside");
    expect(result.stdout.split("\n").filter((n) => /^[A-Z_]+$/.test(n))).toEqual(["GIVEN", "HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER"]);
    expect(/bwrap[^\n]*--/.exec(result.stdout)?.[0] ?? "").not.toContain("given-canary");
  });

  it("R11: nothing that was started is left, however it hid", async () => {
    const { run } = place();
    const word = `cru-orphan-${process.pid}`;
    const hidden = `sh -c 'trap "" TERM HUP; exec >/dev/null 2>&1; while :; do sleep 1; done' ${word}`;
    const result = await run(`${hidden} & nohup ${hidden} >/dev/null 2>&1 & setsid ${hidden} & (setsid sh -c "${hidden.replaceAll('"', String.raw`\"`)} &" &) ; for i in $(seq 1 150); do ${hidden} & done; echo done`);
    expect(result).toMatchObject({ code: 0, stdout: "done\n" });
    expect(withWord(word)).toEqual([]);
  });

  it("R11: timeout and abort end everything, also what ignores signals", async () => {
    const { run } = place();
    const word = `cru-timeout-${process.pid}`;
    const stubborn = `sh -c 'trap "" TERM; while :; do sleep 1; done' ${word}`;
    expect(await run(`setsid ${stubborn} & ${stubborn}; true`, {}, { timeoutMs: 400 })).toMatchObject({ timedOut: true });
    const stop = new AbortController();
    expect(await run(`echo ready; setsid ${stubborn} & ${stubborn}; true`, {}, { signal: stop.signal, onOutput: () => stop.abort() })).toMatchObject({ aborted: true, timedOut: false });
    expect(withWord(word)).toEqual([]);
  });

  it("lets a command end politely when its time is over", async () => {
    const { run } = place();
    const result = await run("trap 'echo bye; exit 3' TERM; while :; do sleep 0.05; done", {}, { timeoutMs: 300 });
    expect(result).toMatchObject({ timedOut: true, code: 3, stdout: "bye\n" });
  });

  it("everything ends when the orchestrator is killed, whenever that is", async () => {
    const folder = temporaryFolder();
    const { home, workspace } = place();
    const word = `cru-killed-${process.pid}`;
    const entry = join(folder, "parent.mts");
    writeFileSync(entry, `import { runSandboxed } from ${JSON.stringify(join(repository, "src/sandbox/run-sandboxed.ts"))};
      process.stdout.write("started");
      await runSandboxed({ workspace: process.argv[2], writable: true, home: process.argv[3] }, ["/bin/sh", "-c", "setsid sleep 600 & while :; do sleep 1; done", "${word}"], { mode: "required" });`);
    const { build } = await import("esbuild");
    await build({ entryPoints: [entry], outfile: join(folder, "parent.mjs"), bundle: true, format: "esm", platform: "node" });
    const ends: (string | null)[] = [];
    for (const delay of [0, 3, 6, 10, 15, 25, 60]) {
      const parent = startProgram(process.execPath, [join(folder, "parent.mjs"), workspace, home], { env: { PATH: process.env.PATH } });
      await new Promise((resolve) => parent.stdout?.once("data", resolve));
      await new Promise((resolve) => setTimeout(resolve, delay));
      process.kill(parent.pid ?? 0, "SIGKILL");
      ends.push((await parent.ended).signal);
    }
    expect(ends).toEqual(Array.from({ length: 7 }, () => "SIGKILL"));
    await until(() => withWord(word).length === 0);
  });

  it("R12: 100 MB of output, invalid UTF-8 and NUL bytes stay bounded and readable", async () => {
    const { run } = place();
    const before = process.memoryUsage().rss;
    const result = await run(String.raw`printf 'a\377\000b\n'; head -c 104857600 /dev/zero; echo end`, {}, { maxBytes: 20_000 });
    expect(result).toMatchObject({ code: 0, truncated: true });
    expect(result.stdout.startsWith("a\ufffd\0b\n")).toBe(true);
    expect(result.stdout.endsWith("end\n")).toBe(true);
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 2 ** 20);
  });

  it("S6: a marker inside says whose command it is, and cannot be changed, removed or moved away", async () => {
    const { run } = place();
    const marker = { v: 1, depth: 1, trace_id: "t", session_id: "s", agent: "explore", permissions: ["FilesystemRead"] } as const;
    const result = await run("echo x > /run/crucible/agent.json; rm -f /run/crucible/agent.json; mv /run/crucible /run/y; mv /run /z; cat /run/crucible/agent.json", { marker: { ...marker, permissions: ["FilesystemRead"] } });
    expect(JSON.parse(result.stdout)).toEqual(marker);
  });

  it("runs node and git inside", async () => {
    const { run } = place();
    expect((await run("node -p 'process.version'; git --version")).stdout).toMatch(/^v\d+.*\ngit version/);
  });

  it("refuses a workspace that holds the home folder", async () => {
    const { workspace } = place();
    mkdirSync(join(workspace, "home"));
    await expect(runSandboxed({ workspace, writable: true, home: join(workspace, "home") }, ["/bin/true"], { mode: "required" })).rejects.toMatchObject({ code: "sandbox_missing" });
  });

  it("a sandbox that cannot be set up runs nothing", async () => {
    const { run, workspace } = place();
    await expect(run("echo ran > ran", { binds: [{ from: "/no/such/path" }] })).rejects.toMatchObject({ code: "sandbox_missing", exitCode: 4 });
    expect(existsSync(join(workspace, "ran"))).toBe(false);
  });
});

describe("without a sandbox", () => {
  it("off and external run the command plainly and say so", async () => {
    const { run, workspace } = place();
    for (const mode of ["off", "external"] as const) expect(await run("pwd", {}, { mode })).toMatchObject({ code: 0, stdout: `${workspace}\n`, sandboxed: false });
  });

  it("R11: ends children that left the group there too", async () => {
    const { run } = place();
    const word = `cru-plain-${process.pid}`;
    const hidden = `sh -c 'trap "" TERM HUP; exec >/dev/null 2>&1; while :; do sleep 1; done' ${word}`;
    const result = await run(`setsid ${hidden} >/dev/null 2>&1 & nohup ${hidden} >/dev/null 2>&1 & sleep 0.1; true`, {}, { mode: "off" });
    expect(result.code).toBe(0);
    await until(() => withWord(word).length === 0);
  });

  it("carries the marker in the environment", async () => {
    const { run } = place();
    const marker = { v: 1 as const, depth: 0, trace_id: "t", session_id: "s", agent: "primary", permissions: [] };
    const { stdout } = await run('printf %s "$CRUCIBLE_AGENT"', { marker }, { mode: "off" });
    expect(readMarker({ CRUCIBLE_AGENT: stdout }, "/no/marker")).toEqual(marker);
  });
});

describe("readMarker", () => {
  it("is undefined outside, and the deepest agent without rights when it cannot be read", () => {
    expect(readMarker({}, "/no/marker")).toBeUndefined();
    expect(readMarker({ CRUCIBLE_AGENT: "{bad" }, "/no/marker")).toMatchObject({ depth: 1, permissions: [] });
    expect(readMarker({}, temporaryFolder())).toMatchObject({ depth: 1, permissions: [] });
  });
});
