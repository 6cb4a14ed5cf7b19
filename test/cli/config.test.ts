import { existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DEFAULT_SETTINGS } from "../../src/contract/settings-defaults.ts";
import { type Machine, machine } from "../support/cru.ts";

const USER = ".config/crucible/config.yaml";
const PROJECT = ".crucible/config.yaml";
const userFile = (m: Machine): string => readFileSync(join(m.home, USER), "utf8");

describe("cru config get", () => {
  it("prints every setting, as YAML that cru reads itself and as JSON", async () => {
    const m = machine();
    const json = await m.cru(["config", "get", "--json"]);
    expect(JSON.parse(json.stdout)).toEqual(DEFAULT_SETTINGS);
    const text = await m.cru(["config", "get"]);
    const other = machine({ home: { [USER]: text.stdout } });
    expect(await other.cru(["config", "get", "--json"])).toEqual(json);
  });

  it("[CRU-9.2.2] prints the default model of the user's settings and of the environment", async () => {
    const m = machine({ home: { [USER]: "model: haiku\n" } });
    expect(await m.cru(["config", "get", "model"])).toEqual({ code: 0, stdout: "haiku\n", stderr: "" });
    expect(await m.cru(["config", "get", "model"], { env: { CRU_MODEL: "opus" } })).toEqual({ code: 0, stdout: "opus\n", stderr: "" });
  });

  it("prints a section, a list, null and a map's entry", async () => {
    const m = machine();
    expect((await m.cru(["config", "get", "limits"])).stdout).toBe("children_total: 20\nbudget_usd: 10\nbudget_tokens: null\ntime: 2h\n");
    expect((await m.cru(["config", "get", "notify"])).stdout).toBe("[{type: bell}]\n");
    expect((await m.cru(["config", "get", "acp.command"])).stdout).toBe("null\n");
    expect((await m.cru(["config", "get", "queue.providers.anthropic", "--json"])).stdout).toBe("4\n");
  });

  it.each([
    ["limits.budget", "did you mean 'limits.budget_usd'?"],
    ["modle", "did you mean 'model'?"],
    ["__proto__", "one of: "],
    ["limits.", "did you mean 'limits'?"],
    ["queue.providers.nope", "cru config set queue.providers.nope"],
  ])("an unknown key %s ends with exit code 2 and a suggestion", async (key, hint) => {
    const result = await machine().cru(["config", "get", key]);
    expect(result).toMatchObject({ code: 2, stdout: "" });
    expect(result.stderr).toContain(hint);
  });

  it("a wrong variable is named and ends with exit code 3", async () => {
    const result = await machine().cru(["config", "get", "model"], { env: { CRU_LIMITS_BUDGET_USD: "lots" } });
    expect(result.code).toBe(3);
    expect(result.stderr).toContain("CRU_LIMITS_BUDGET_USD: expected a number, found 'lots'");
  });

  it("a wrong file is told with place and suggestion, and ends with exit code 3", async () => {
    const result = await machine({ home: { [USER]: "model: opus\nlimits:\n  budgt_usd: 5\n" } }).cru(["config", "get", "model"]);
    expect(result).toEqual({
      code: 3, stdout: "opus\n", stderr: "~/.config/crucible/config.yaml:3:3: limits.budgt_usd: unknown key 'budgt_usd' (did you mean 'budget_usd'?)\n",
    });
  });
});

describe("cru config explain", () => {
  it("says who won, who else said something, and that a project's file is ignored for lack of trust", async () => {
    const m = machine({ home: { [USER]: "# mine\nmodel: haiku\n" }, project: { [PROJECT]: "model: opus\n" } });
    const untrusted = await m.cru(["config", "explain", "model"]);
    expect(untrusted.code).toBe(0);
    expect(untrusted.stdout).toBe(
      "model: haiku\n  ignored  .crucible/config.yaml:1: opus  (this project is not trusted: `cru trust`)\n  from     ~/.config/crucible/config.yaml:2: haiku\n" +
        "  over     built-in: sonnet\n  also     CRU_MODEL in the environment\n",
    );
    const trusted = await m.cru(["config", "explain", "model", "--json"], { env: { CRU_TRUST: "1" } });
    expect(JSON.parse(trusted.stdout)).toMatchObject({
      project_ignored: false,
      settings: [{
        key: "model", value: "opus", layer: "project", file: join(m.project, PROJECT), line: 1, environment: "CRU_MODEL",
        said: [{ layer: "project", value: "opus", used: true }, { layer: "user", value: "haiku", line: 2 }, { layer: "builtin", value: "sonnet" }],
      }],
    });
  });

  it("explains a whole section and denials that add up", async () => {
    const m = machine({ home: { [USER]: "permissions: {deny: [Shell]}\n" } });
    const { stdout } = await m.cru(["config", "explain", "permissions"], { env: { CRU_PERMISSIONS_DENY: "NetworkAccess" } });
    expect(stdout).toContain("permissions.deny: [Shell, NetworkAccess]\n  adds     CRU_PERMISSIONS_DENY: [NetworkAccess]\n  adds     ~/.config/crucible/config.yaml:1: [Shell]\n");
    expect(stdout).toContain("a project's file may only tighten it");
  });

  it("an unknown key ends with exit code 2", async () => {
    expect(await machine().cru(["config", "explain", "sandbx"])).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean 'sandbox'?") as string });
  });
});

describe("cru config set", () => {
  it("writes the user's file, keeps comments and other lines, and is read back", async () => {
    const m = machine({ home: { [USER]: "# mine\nmodel: haiku # cheap\n\nlimits:\n  # money\n  time: 1h\n" } });
    expect(await m.cru(["config", "set", "model", "opus"])).toEqual({ code: 0, stdout: "model: opus  (~/.config/crucible/config.yaml)\n", stderr: "" });
    expect((await m.cru(["config", "set", "limits.budget_usd", "2.5"])).code).toBe(0);
    expect((await m.cru(["config", "set", "permissions.deny", "Shell,NetworkAccess"])).code).toBe(0);
    expect(userFile(m)).toBe(
      "# mine\nmodel: opus # cheap\n\nlimits:\n  # money\n  budget_usd: 2.5\n  time: 1h\npermissions:\n  deny: [Shell, NetworkAccess]\n",
    );
    expect((await m.cru(["config", "get", "limits.budget_usd"])).stdout).toBe("2.5\n");
  });

  it("makes the file, for the user alone", async () => {
    const m = machine();
    expect((await m.cru(["config", "set", "model", "opus"])).code).toBe(0);
    expect(userFile(m)).toBe("model: opus\n");
    expect(lstatSync(join(m.home, USER)).mode & 0o777).toBe(0o600);
  });

  it.each([
    [["modle", "opus"], 2, "did you mean 'model'?"],
    [["model", "sonet"], 3, "did you mean 'sonnet'?"],
    [["limits.budget_usd", "lots"], 3, "expected a number"],
    [["permissions.deny", "FilesystemRead"], 3, "cannot be denied"],
    [["sandbox", "of"], 3, "did you mean 'off'?"],
    [["sandbox.mode", "none"], 3, "one of: required, external, off"],
  ])("%j is refused before anything is written", async (args, code, words) => {
    const m = machine();
    const result = await m.cru(["config", "set", ...args]);
    expect(result).toMatchObject({ code, stdout: "" });
    expect(result.stderr).toContain(words);
    expect(existsSync(join(m.home, USER))).toBe(false);
  });

  it.each([
    ["sandbox: off\n", "sandbox.mode", "external", "sandbox: external\n"],
    ["sandbox: off\n", "sandbox.hosts", "[a.example]", "sandbox: {mode: off, hosts: [a.example]}\n"],
    ["sandbox: {hosts: [a.example]}\n", "sandbox", "off", "sandbox: {hosts: [a.example], mode: off}\n"],
    ["", "sandbox", "off", "sandbox: off\n"],
  ])("the two forms of sandbox: %j with %s=%s", async (before, key, value, after) => {
    const m = machine({ home: { [USER]: before } });
    expect((await m.cru(["config", "set", key, value])).code).toBe(0);
    expect(userFile(m)).toBe(after);
  });

  it("a file that cannot be edited without loss stays as it is", async () => {
    for (const before of ["permissions:\n  deny:\n    - Shell # because\n", "model: [\n", "- a\n"]) {
      const m = machine({ home: { [USER]: before } });
      const result = await m.cru(["config", "set", "permissions.deny", "[]"]);
      expect(result.code).toBe(3);
      expect(result.stderr).toContain("~/.config/crucible/config.yaml was not changed: it ");
      expect(userFile(m)).toBe(before);
    }
  });

  it("can mend a wrong value, and tells what else is wrong", async () => {
    const m = machine({ home: { [USER]: "runner: nope\nmodle: x\n" } });
    const result = await m.cru(["config", "set", "runner", "claude"]);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain("modle: unknown key");
    expect(userFile(m)).toBe("runner: claude\nmodle: x\n");
  });

  it("writes what a link in the user's folder leads to", async () => {
    const m = machine({ home: { "dotfiles/c.yaml": "model: haiku\n", ".config/crucible/keep": "" } });
    symlinkSync(join(m.home, "dotfiles/c.yaml"), join(m.home, USER));
    expect((await m.cru(["config", "set", "model", "opus"])).code).toBe(0);
    expect(lstatSync(join(m.home, USER)).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(m.home, "dotfiles/c.yaml"), "utf8")).toBe("model: opus\n");
  });

  it("says when something stronger wins", async () => {
    const result = await machine().cru(["config", "set", "model", "opus"], { env: { CRU_MODEL: "haiku" } });
    expect(result).toMatchObject({ code: 0, stderr: "cru: CRU_MODEL says something else and wins\n" });
  });

  it("--project: a new file is trusted, a trusted one stays so, an untrusted one does not become so", async () => {
    const m = machine({ project: { ".crucible/keep": "" } });
    expect((await m.cru(["config", "set", "model", "opus", "--project"])).stderr).toBe("");
    expect((await m.cru(["config", "set", "loop.max_iterations", "3", "--project"])).stderr).toBe("");
    expect((await m.cru(["config", "get", "model"])).stdout).toBe("opus\n");
    expect((await m.cru(["config", "get", "loop.max_iterations"])).stdout).toBe("3\n");
    writeFileSync(join(m.project, PROJECT), "model: haiku\n");
    expect((await m.cru(["config", "set", "loop.max_iterations", "4", "--project"], { env: { CRU_TRUST: "1" } })).stderr).toContain("not trusted");
    expect((await m.cru(["config", "get", "model"])).stdout).toBe("sonnet\n");
  });

  it.each([["claude.command", "./evil"], ["permissions.allow", "Shell"], ["sandbox", "off"], ["approvals.timeout", "1h"], ["notify", "[{type: command, command: [x]}]"]])(
    "--project refuses to loosen %s=%s",
    async (key, value) => {
      const m = machine({ project: { ".crucible/keep": "" } });
      const result = await m.cru(["config", "set", key, value, "--project"]);
      expect(result.code).toBe(3);
      expect(result.stderr).toContain("a project cannot");
      expect(existsSync(join(m.project, PROJECT))).toBe(false);
    },
  );

  it("--project in the home folder is refused", async () => {
    const m = machine();
    expect(await m.cru(["config", "set", "model", "opus", "--project"], { cwd: m.home })).toMatchObject({ code: 2 });
    expect(existsSync(join(m.home, ".crucible"))).toBe(false);
  });

  it("--project writes nothing through a link that leaves the project", async () => {
    const m = machine({ home: { "victim/config.yaml": "model: haiku\n" } });
    symlinkSync(join(m.home, "victim"), join(m.project, ".crucible"));
    expect((await m.cru(["config", "set", "model", "opus", "--project"])).code).toBe(3);
    expect(readFileSync(join(m.home, "victim/config.yaml"), "utf8")).toBe("model: haiku\n");
  });
});

describe("cru config schema", () => {
  it.each(["agent", "grimoire", "config", "event"])("prints the JSON Schema of %s with id and title", async (kind) => {
    const result = await machine().cru(["config", "schema", kind]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(result.stdout)).toMatchObject({ $schema: "http://json-schema.org/draft-07/schema#", $id: `urn:crucible:schema:${kind}:1`, title: expect.stringContaining("Crucible") as string });
  });

  it("another kind ends with exit code 2 and a suggestion", async () => {
    expect(await machine().cru(["config", "schema", "agents"])).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean 'agent'?") as string });
  });
});
