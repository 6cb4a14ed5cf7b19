import { hostsFinding, sandboxFinding } from "../../src/app/doctor/sandbox.ts";
import type { SandboxState } from "../../src/sandbox/probe.ts";
import { existsSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../src/app/doctor/check.ts";
import { finish, machine, type Machine } from "../support/cru.ts";
import { temporaryFolder } from "../support/temp.ts";

const PATH = process.env.PATH ?? "";

/** A folder of programs, each a shell script, to stand before the machine's own on PATH. */
function programs(scripts: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, script] of Object.entries(scripts)) writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}

async function checks({ cru }: Machine, env: Record<string, string> = {}): Promise<{ code: number; checks: Finding[]; of(id: string): Finding[] }> {
  const { code, stdout } = await cru(["doctor", "--json"], { env });
  const { checks } = JSON.parse(stdout) as { checks: Finding[] };
  return { code, checks, of: (id) => checks.filter((check) => check.id === id) };
}

async function git(cwd: string, ...args: string[]): Promise<void> {
  const env = { PATH, HOME: cwd, GIT_CONFIG_GLOBAL: "/dev/null", GIT_AUTHOR_NAME: "t", GIT_AUTHOR_EMAIL: "t@localhost", GIT_COMMITTER_NAME: "t", GIT_COMMITTER_EMAIL: "t@localhost" };
  const run = await finish("git", ["-c", "protocol.file.allow=always", ...args], { cwd, env });
  expect(run).toMatchObject({ code: 0 });
}

async function repository(files: Record<string, string> = { "a.txt": "a" }): Promise<Machine> {
  const here = machine({ project: files });
  await git(here.project, "init", "-q", "-b", "main");
  await git(here.project, "add", "-A");
  await git(here.project, "commit", "-qm", "one");
  return here;
}

describe("cru doctor", () => {
  it("gives every line a status and a message, every warning a way to fix it, and passes without claude and keys", async () => {
    const { code, checks: found, of } = await checks(await repository());
    expect(code).toBe(0);
    expect(found.map((c) => c.id)).toEqual(expect.arrayContaining(["node", "git", "repository", "settings", "agents", "trust", "providers", "claude", "sandbox", "bd", "disk", "locks", "worktrees"]));
    for (const check of found) {
      expect(Object.keys(check)).toEqual(["id", "status", "message", "fix"]);
      expect(["ok", "info", "warn"]).toContain(check.status);
    }
    expect(found.filter((c) => c.status === "warn" && (c.fix ?? "").trim() === "")).toEqual([]);
    expect(of("providers")).toMatchObject([{ status: "warn" }]);
    expect(of("repository")).toMatchObject([{ status: "ok", message: "on branch main" }]);
  });

  it("prints one line a check and its remedy below, without colour when piped, and a verdict", async () => {
    const { code, stdout, stderr } = await machine().cru(["doctor"], { env: { NO_COLOR: "" } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^ok {4}node +Node \d+/m);
    expect(stdout).toMatch(/^warn {2}repository +no git repository here.*\n +→ git init/m);
    expect(stdout).toMatch(/\n\nNo agent can run here yet: `cru chat` and `cru task` need .*\n {2}→ export ANTHROPIC_API_KEY=.*\n$/);
    expect(stdout).not.toContain("\u001b");
  });

  it("tells whether an agent can run: a key, a local server, or an agent program with a login", async () => {
    const here = await repository();
    const runs = async (env: Record<string, string>): Promise<boolean> => JSON.parse((await here.cru(["doctor", "--json"], { env })).stdout).agents_can_run;
    const claude = `${programs({ claude: "echo 2.1.0" })}:${PATH}`;
    expect(await runs({})).toBe(false);
    expect(await runs({ OPENAI_API_KEY: "x" })).toBe(false);
    expect(await runs({ PATH: claude })).toBe(false);
    expect((await checks(here, { PATH: claude })).of("claude.login")).toMatchObject([{ status: "warn", message: "there is no login for the Claude CLI" }]);
    expect(await runs({ PATH: claude, CLAUDE_CODE_OAUTH_TOKEN: "x" })).toBe(true);
    expect(await runs({ OPENAI_BASE_URL: "http://127.0.0.1:9/v1" })).toBe(true);
    const { code, stdout } = await here.cru(["doctor"], { env: { ANTHROPIC_API_KEY: "x" } });
    expect({ code, last: stdout.trimEnd().split("\n").at(-1) }).toEqual({ code: 0, last: expect.stringMatching(/^Crucible works here; \d+ things? limits? what it can do\.$/) });
  });

  it("tells a git without a name how to get one before the first commit", async () => {
    const fix = async (home: Record<string, string>): Promise<string | null | undefined> => (await checks(machine({ home }))).of("repository")[0]?.fix;
    expect(await fix({})).toMatch(/^git init, then tell git who you are \(git config --global user\.name/);
    expect(await fix({ ".gitconfig": "[user]\n\tname = t\n\temail = t@localhost\n" })).toBe("git init, then git add -A && git commit -m 'first commit'");
  });

  it("fails when git is missing or too old", async () => {
    const without = await checks(machine(), { PATH: programs({}) });
    expect(without.code).toBe(1);
    expect(without.of("git")).toMatchObject([{ status: "fail", message: "git was not found on PATH", fix: expect.stringContaining("2.38") }]);
    const old = await checks(machine(), { PATH: `${programs({ git: "echo git version 2.37.9" })}:${PATH}` });
    expect(old.code).toBe(1);
    expect(old.of("git")).toMatchObject([{ status: "fail", message: expect.stringContaining("git 2.37.9 is too old") }]);
    const enough = await checks(machine(), { PATH: `${programs({ git: "echo 'git version 2.38.0 (Some Vendor-1)'" })}:${PATH}` });
    expect(enough.of("git")).toMatchObject([{ status: "ok", message: "git 2.38.0" }]);
  });

  it("has a line for an unborn branch, a detached HEAD, a shallow clone and submodules", async () => {
    const unborn = machine();
    await git(unborn.project, "init", "-q", "-b", "main");
    expect((await checks(unborn)).of("repository")).toMatchObject([{ status: "warn", message: expect.stringContaining("branch main has no commit yet"), fix: expect.stringContaining("git commit") }]);

    const detached = await repository();
    await git(detached.project, "checkout", "-q", "--detach");
    expect((await checks(detached)).of("repository")).toMatchObject([{ status: "warn", message: expect.stringContaining("HEAD is detached"), fix: expect.stringContaining("merge.target") }]);

    const origin = await repository({ "a.txt": "a", ".gitmodules": "", ".gitattributes": "*.bin filter=lfs diff=lfs\n" });
    await git(origin.project, "commit", "-qm", "two", "--allow-empty");
    const shallow = machine();
    rmSync(shallow.project, { recursive: true });
    await git(origin.project, "clone", "-q", "--depth", "1", `file://${origin.project}`, shallow.project);
    const { of } = await checks(shallow);
    expect(of("repository.shallow")).toMatchObject([{ status: "warn", fix: "git fetch --unshallow" }]);
    expect(of("repository.submodules")).toMatchObject([{ status: "warn", fix: expect.stringContaining("git submodule update --init") }]);
    expect(of("repository.lfs")).toMatchObject([{ status: "info" }]);
  });

  it("never prints a key or any part of one, nor what an address may hide", async () => {
    const env = {
      ANTHROPIC_API_KEY: "sk-ant-SECRETONE", ANTHROPIC_AUTH_TOKEN: "SECRETTWO", ANTHROPIC_BASE_URL: "https://SECRETUSER:SECRETPASS@api.localhost/SECRETPATH/v1",
      OPENAI_API_KEY: "SECRETTHREE", OPENAI_BASE_URL: "http://SECRETNAME@127.0.0.1:9/v1?key=SECRETQUERY",
    };
    const here = machine();
    const { of } = await checks(here, env);
    expect(of("providers.anthropic")).toMatchObject([{ status: "ok", message: "ANTHROPIC_API_KEY is set, for https://api.localhost" }]);
    expect(of("providers.anthropic.url")).toMatchObject([{ status: "warn", message: "ANTHROPIC_BASE_URL ends in /v1" }]);
    expect(of("providers.openai")).toMatchObject([{ status: "ok", message: "an OpenAI-compatible server is set, http://127.0.0.1:9, with a key" }]);
    expect(of("providers")).toEqual([]);
    for (const args of [["doctor"], ["doctor", "--json"]]) {
      const { stdout, stderr } = await here.cru(args, { env });
      expect(stdout + stderr).not.toMatch(/SECRET|sk-ant/);
    }
  });

  it("hands no key to the programs that it starts", async () => {
    const mark = join(temporaryFolder(), "env");
    const folder = programs({ claude: `env > '${mark}'; echo '2.1.325 (Claude Code)'` });
    const { of } = await checks(machine(), { PATH: `${folder}:${PATH}`, ANTHROPIC_API_KEY: "SECRET", CLAUDE_CODE_OAUTH_TOKEN: "SECRET" });
    expect(of("claude")).toEqual([{ id: "claude", status: "ok", message: "claude 2.1.325", fix: null }]);
    expect(await finish("cat", [mark], { cwd: "/", env: { PATH } })).toMatchObject({ stdout: expect.not.stringContaining("SECRET") });
  });

  it("says when claude is there and does not work", async () => {
    const { code, of } = await checks(machine(), { PATH: `${programs({ claude: "echo broken >&2; exit 3" })}:${PATH}` });
    expect(code).toBe(0);
    expect(of("claude")).toMatchObject([{ status: "warn", message: "`claude --version` failed (exit 3)" }]);
  });

  it("greets a configured ACP agent, says what it is or what is wrong with it, and is silent without one", async () => {
    expect((await checks(machine())).of("acp")).toEqual([]);
    const agent = (answer: string) => programs({ agent: `read -r hello; echo noise; echo '${answer}'` });
    const says = async (folder: string, command = "agent --acp") => (await checks(machine({ home: { ".config/crucible/config.yaml": `acp: {command: ${command}}\n` } }), { PATH: `${folder}:${PATH}` })).of("acp");
    expect(await says(agent('{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"lab-agent","version":"1.2.3"}}}'))).toEqual([{ id: "acp", status: "ok", message: "lab-agent 1.2.3", fix: null }]);
    expect(await says(agent('{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2}}'))).toMatchObject([{ status: "warn", message: expect.stringContaining("version 2") }]);
    expect(await says(agent("hello"))).toMatchObject([{ status: "warn", message: expect.stringContaining("did not answer") }]);
    expect(await says(agent(""), "no-such-agent")).toMatchObject([{ status: "warn", message: expect.stringContaining("no-such-agent"), fix: expect.stringContaining("acp.command") }]);
  });

  it("says which MCP servers can start and how to get the others, and is silent without any", async () => {
    expect((await checks(machine())).of("mcp")).toEqual([]);
    const here = machine({ home: { ".config/crucible/config.yaml": "mcp:\n  presets: [github]\n  servers:\n    here: {command: sh}\n    gone: {command: no-such-server, default: false}\n" } });
    expect((await checks(here)).of("mcp")).toEqual([
      { id: "mcp", status: "ok", message: "MCP servers: here", fix: null },
      { id: "mcp", status: "warn", message: "the MCP server github is left out: GITHUB_PERSONAL_ACCESS_TOKEN is not set", fix: "set it, or one of GITHUB_TOKEN, GH_TOKEN" },
      { id: "mcp", status: "warn", message: "the MCP server gone is left out: no-such-server was not found on PATH", fix: "install it, or give its full path as command" },
    ]);
  });

  it("runs the claude of the user's settings and never one that a project names or brings", async () => {
    const mark = join(temporaryFolder(), "ran");
    const evil = programs({ claude: `touch '${mark}'; echo 6.6.6` });
    const mine = programs({ "my-claude": "echo 3.2.1" });
    const here = machine({
      project: { ".crucible/config.yaml": `claude: {command: ${evil}/claude}\n`, claude: `#!/bin/sh\ntouch '${mark}'; echo 6.6.6\n` },
      home: { ".config/crucible/config.yaml": `claude: {command: ${mine}/my-claude}\n` },
    });
    await finish("chmod", ["+x", join(here.project, "claude")], { cwd: "/", env: { PATH } });
    for (const env of [{}, { CRU_TRUST: "1" }, { PATH: `.:${PATH}` }]) expect((await checks(here, env)).of("claude")).toMatchObject([{ status: "ok", message: "claude 3.2.1" }]);
    const bare = machine({ project: { claude: `#!/bin/sh\ntouch '${mark}'; echo 6.6.6\n` } });
    await finish("chmod", ["+x", join(bare.project, "claude")], { cwd: "/", env: { PATH } });
    await checks(bare, { PATH: `.:${PATH}` });
    expect((await checks(bare, { CRU_CLAUDE_COMMAND: "./claude" })).of("claude")).toMatchObject([{ status: "warn", message: expect.stringContaining("relative path") }]);
    expect(existsSync(mark)).toBe(false);
  });

  it("fails on settings that cannot be used, with their place", async () => {
    const { code, of } = await checks(machine({ home: { ".config/crucible/config.yaml": "model: sonnet\nrunnr: claude\n" } }));
    expect(code).toBe(1);
    expect(of("settings")).toMatchObject([{ status: "fail", message: expect.stringMatching(/config\.yaml:2:1: runnr/), fix: expect.stringContaining("runner") }]);
    const variable = await checks(machine(), { CRU_LOOP_MAX_ITERATIONS: "many" });
    expect(variable.code).toBe(1);
    expect(variable.of("settings")).toMatchObject([{ status: "fail", message: expect.stringContaining("CRU_LOOP_MAX_ITERATIONS") }]);
  });

  it("counts broken definitions and shows them inert", async () => {
    const { code, of } = await checks(machine({ project: { ".crucible/agents/bad.md": "---\nname: bad\ndescription: d\npermissions: [Shel]\n---\nhello\n" } }));
    expect(code).toBe(0);
    expect(of("agents")).toMatchObject([{ status: "info", message: expect.stringContaining("6 agents") }, { status: "warn", message: expect.stringContaining("bad.md:4:"), fix: expect.stringContaining("Shell") }]);
  });

  it("says what waits for trust, and what trusts everything", async () => {
    const clone = machine({ project: { ".crucible/config.yaml": "model: opus\n", ".mcp.json": "{}" } });
    expect((await checks(clone)).of("trust")).toMatchObject([{ status: "warn", message: expect.stringContaining("2 new, 0 changed"), fix: "cru trust" }]);
    expect((await checks(clone)).of("settings.project")).toMatchObject([{ status: "info" }]);
    expect((await checks(clone, { CRU_TRUST: "1" })).of("trust")).toMatchObject([{ status: "info", message: expect.stringContaining("CRU_TRUST") }]);
  });

  it("tells an old lock of git from one that is held now", async () => {
    const here = await repository();
    const lock = join(here.project, ".git/index.lock");
    writeFileSync(lock, "");
    expect((await checks(here)).of("locks")).toMatchObject([{ status: "info", message: expect.stringContaining("git is at work") }]);
    utimesSync(lock, new Date(0), new Date(0));
    expect((await checks(here)).of("locks")).toMatchObject([{ status: "warn", message: expect.stringContaining("index.lock"), fix: expect.stringContaining(`rm '${lock}'`) }]);
  });

  it("finds worktrees that are gone and folders that are none", async () => {
    const here = await repository();
    const worktrees = join(here.project, ".coven/worktrees");
    for (const name of ["b1", "b2"]) await git(here.project, "worktree", "add", "-q", "--no-track", "-b", `cru/${name}`, join(worktrees, name));
    expect((await checks(here)).of("worktrees")).toMatchObject([{ status: "ok", message: "2 worktrees, all known to git" }]);
    rmSync(join(worktrees, "b1"), { recursive: true });
    mkdirSync(join(worktrees, "strange"));
    writeFileSync(join(worktrees, "strange", "work.txt"), "mine");
    expect((await checks(here)).of("worktrees")).toMatchObject([
      { status: "warn", message: "git lists the worktree .coven/worktrees/b1, whose folder is gone", fix: "cru doctor --fix" },
      { status: "warn", message: ".coven/worktrees/strange is not a worktree that git knows", fix: "cru doctor --fix" },
    ]);
    const fixed = await here.cru(["doctor", "--fix"]);
    expect(fixed.stdout).toContain("git lists the worktree .coven/worktrees/b1, whose folder is gone: removed");
    expect((await checks(here)).of("worktrees")).toMatchObject([{ message: ".coven/worktrees/strange is not a worktree that git knows" }]);
    expect(readFileSync(join(worktrees, "strange", "work.txt"), "utf8")).toBe("mine");
  });

  it("says which hosts are open from inside", () => {
    expect(hostsFinding({ mode: "required", hosts: [] }).message).toBe("open hosts: none, only the model");
    expect(hostsFinding({ mode: "required", hosts: ["a.example", "localhost:5432"] }).message).toBe("open hosts: a.example, localhost:5432");
    expect(hostsFinding({ mode: "off", hosts: ["a.example"] }).message).toContain("reach what you reach");
  });

  it("starts a real sandbox, and says what to install where there is none", async ({ skip }) => {
    const missing = { ok: false, code: "not_installed", reason: "bubblewrap (bwrap) is not installed", remedy: "install it: apt-get install bubblewrap", details: [] } satisfies SandboxState;
    expect(sandboxFinding(missing)).toMatchObject({ status: "warn", message: expect.stringContaining("not installed"), fix: expect.stringContaining("apt-get install bubblewrap") });
    const works = await finish("bwrap", ["--unshare-all", "--ro-bind", "/", "/", "true"], { cwd: "/", env: { PATH } }).then((r) => r.code === 0, () => false);
    skip(!works && process.env.CRU_REQUIRE_SANDBOX !== "1", "bubblewrap does not work on this machine");
    expect((await checks(machine())).of("sandbox")).toEqual([{ id: "sandbox", status: "ok", message: "bubblewrap starts a sandbox", fix: null }]);
  });
});
