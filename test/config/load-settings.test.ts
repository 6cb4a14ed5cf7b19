import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RESERVED_VARIABLES, variableName } from "../../src/config/environment.ts";
import { GUARDED_SECTIONS } from "../../src/config/loosens.ts";
import { loadSettings, type LoadedSettings, requireSettings } from "../../src/config/load-settings.ts";
import { findPaths } from "../../src/config/paths.ts";
import { sectionKeys, settingKeys } from "../../src/config/setting-keys.ts";
import { DEFAULT_SETTINGS } from "../../src/contract/settings-defaults.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";

type Given = { user?: string; project?: string; env?: Record<string, string>; flags?: Parameters<typeof loadSettings>[0]["flags"]; trusted?: boolean };

function load(given: Given): LoadedSettings {
  const base = temporaryFolder();
  mkdirSync(join(base, "home"));
  mkdirSync(join(base, "project", ".crucible"), { recursive: true });
  if (given.user !== undefined) writeFiles(join(base, "home"), { ".config/crucible/config.yaml": given.user });
  if (given.project !== undefined) writeFiles(join(base, "project"), { ".crucible/config.yaml": given.project });
  const env = { HOME: join(base, "home"), ...given.env };
  const flags = given.flags === undefined ? {} : { flags: given.flags };
  return loadSettings({ paths: findPaths(join(base, "project"), env), env, ...flags, isTrusted: () => given.trusted ?? true });
}

const problemsOf = (given: Given): string[] => load(given).problems.map((p) => `${p.path}:${p.line}:${p.column} ${p.code} ${p.field}: ${p.message} (${p.hint})`);

describe("layers", () => {
  it("without any file the built-in settings hold", () => {
    const loaded = load({});
    expect(loaded.settings).toEqual(DEFAULT_SETTINGS);
    expect(loaded.problems).toEqual([]);
    expect(new Set(Object.values(loaded.origin).map((o) => o.layer))).toEqual(new Set(["builtin"]));
  });

  it("[CRU-9.2.2] the default model is set by user file, project file, environment and flag, each above the one before", () => {
    const all = { user: "model: haiku\n", project: "# team\nmodel: opus\n", env: { CRU_MODEL: "sonnet" }, flags: { model: "claude-x-1" } };
    const steps: [Given, string, object][] = [
      [{ user: all.user }, "haiku", { layer: "user", line: 1 }],
      [{ user: all.user, project: all.project }, "opus", { layer: "project", line: 2 }],
      [{ user: all.user, project: all.project, env: all.env }, "sonnet", { layer: "environment", variable: "CRU_MODEL" }],
      [all, "claude-x-1", { layer: "flags" }],
    ];
    for (const [given, model, origin] of steps) {
      const loaded = load(given);
      expect(loaded.settings.model).toBe(model);
      expect(loaded.origin.model).toMatchObject(origin);
    }
  });

  it("maps merge by name, lists replace each other, denials add up", () => {
    const { settings, origin } = load({
      user: "queue: {providers: {local: 2}}\nworktrees: {copy: [a, b]}\npermissions: {deny: [Shell]}\n",
      project: "queue:\n  providers:\n    anthropic: 8\nworktrees: {copy: [c]}\npermissions: {deny: [NetworkAccess]}\n",
      env: { CRU_PERMISSIONS_DENY: "DatabaseWrite, Shell" },
      flags: { permissions: { deny: ["DatabaseRead"] } },
    });
    expect(settings.queue).toEqual({ max_concurrent: 1, providers: { anthropic: 8, local: 2 } });
    expect(settings.worktrees.copy).toEqual(["c"]);
    expect(settings.permissions.deny).toEqual(["Shell", "NetworkAccess", "DatabaseWrite", "DatabaseRead"]);
    expect(origin["queue.providers.local"]).toMatchObject({ layer: "user" });
    expect(origin["queue.providers.anthropic"]).toMatchObject({ layer: "project", line: 3 });
  });

  it("an empty denial takes nothing back", () => {
    expect(load({ user: "permissions: {deny: [Shell]}\n", flags: { permissions: { deny: [] } } }).settings.permissions.deny).toEqual(["Shell"]);
  });

  it("a bare word for sandbox is its mode, and off is a word, not false", () => {
    expect(load({ user: "sandbox: off\n" }).settings.sandbox).toEqual({ mode: "off", hosts: [] });
    expect(load({ env: { CRU_SANDBOX: "off" } }).settings.sandbox.mode).toBe("off");
    expect(load({ user: "sandbox: {hosts: [a.example]}\n", env: { CRU_SANDBOX: "external" } }).settings.sandbox).toEqual({ mode: "external", hosts: ["a.example"] });
  });

  it("a section whose keys are all commented out, an empty file and a file of comments say nothing", () => {
    for (const user of ["limits:\n  # budget_usd: 5\n", "", "# nothing\n", "---\n", "\uFEFFlimits:\r\n"]) {
      expect(load({ user })).toMatchObject({ settings: DEFAULT_SETTINGS, problems: [] });
    }
  });

  it("null is a value where a setting may be unlimited", () => {
    expect(load({ user: "limits: {budget_usd: null}\n" }).settings.limits.budget_usd).toBeNull();
  });
});

describe("environment", () => {
  it.each([
    ["CRU_LIMITS_BUDGET_USD", "2.5", (s: LoadedSettings["settings"]) => s.limits.budget_usd, 2.5],
    ["CRU_LIMITS_BUDGET_TOKENS", "null", (s: LoadedSettings["settings"]) => s.limits.budget_tokens, null],
    ["CRU_LIMITS_TIME", "90", (s: LoadedSettings["settings"]) => s.limits.time, 90],
    ["CRU_LIMITS_TIME", "1h30m", (s: LoadedSettings["settings"]) => s.limits.time, "1h30m"],
    ["CRU_QUEUE_PROVIDERS_ANTHROPIC", "9", (s: LoadedSettings["settings"]) => s.queue.providers.anthropic, 9],
    ["CRU_QUEUE_PROVIDERS_MY_SERVER", "1", (s: LoadedSettings["settings"]) => s.queue.providers["my-server"], 1],
    ["CRU_GRIMOIRES_BY_TYPE_BUG", "fix-bug", (s: LoadedSettings["settings"]) => s.grimoires.by_type.bug, "fix-bug"],
    ["CRU_MERGE_REQUIRE_REVIEW", "false", (s: LoadedSettings["settings"]) => s.merge.require_review, false],
    ["CRU_MERGE_TARGET", "123", (s: LoadedSettings["settings"]) => s.merge.target, "123"],
    ["CRU_PERMISSIONS_DENY", "Shell,NetworkAccess", (s: LoadedSettings["settings"]) => s.permissions.deny, ["Shell", "NetworkAccess"]],
    ["CRU_PERMISSIONS_DENY", "[Shell, NetworkAccess]", (s: LoadedSettings["settings"]) => s.permissions.deny, ["Shell", "NetworkAccess"]],
    ["CRU_CLAUDE_ARGS", "--a,--b", (s: LoadedSettings["settings"]) => s.claude.args, ["--a", "--b"]],
    ["CRU_ACP_COMMAND", "agent", (s: LoadedSettings["settings"]) => s.acp.command, "agent"],
    ["CRU_ACP_COMMAND", "[agent, --acp]", (s: LoadedSettings["settings"]) => s.acp.command, ["agent", "--acp"]],
    ["CRU_NOTIFY", "[]", (s: LoadedSettings["settings"]) => s.notify, []],
    ["CRU_SANDBOX", "{mode: external}", (s: LoadedSettings["settings"]) => s.sandbox.mode, "external"],
    ["CRU_MCP_SERVERS_DOCS", "{command: docs}", (s: LoadedSettings["settings"]) => s.mcp.servers.docs, { command: "docs" }],
  ])("%s=%s is read as the setting's type", (name, text, get, expected) => {
    const loaded = load({ env: { [name]: text } });
    expect(get(loaded.settings)).toEqual(expected);
    expect(Object.values(loaded.origin).filter((o) => o.layer === "environment").every((o) => o.variable === name)).toBe(true);
  });

  it.each([
    ["CRU_LIMITS_BUDGET_USD", "lots", undefined],
    ["CRU_LIMITS_BUDGET_USD", "-1", undefined],
    ["CRU_LOOP_MAX_ITERATIONS", "1.5", undefined],
    ["CRU_LIMITS_TIME", "soon", undefined],
    ["CRU_MERGE_REQUIRE_REVIEW", "maybe", undefined],
    ["CRU_SANDBOX", "of", "did you mean 'off'?"],
    ["CRU_RUNNER", "cluade", "did you mean 'claude'?"],
    ["CRU_PERMISSIONS_DENY", "Shel", "did you mean 'Shell'?"],
    ["CRU_PERMISSIONS_DENY", "FilesystemRead", "remove it from the list"],
    ["CRU_MODEL", "sonet", "did you mean 'sonnet'? A full model id is fine too"],
    ["CRU_NOTIFY", "[", undefined],
  ])("%s=%s ends with the variable's name and exit code 3", (name, text, hint) => {
    expect(() => load({ env: { [name]: text } })).toThrow(
      expect.objectContaining({ code: "invalid_setting", exitCode: 3, message: expect.stringContaining(`${name}: `) as string, hint }),
    );
  });

  it("other CRU_ names, reserved names and empty values are left alone", () => {
    const env = { CRU_SOMETHING: "x", CRU_V1: "x", CRU_V1_FILE: "x", CRU_INPUT_MODEL: "x", CRU_TRUST: "1", CRU_REQUIRE_SANDBOX: "1", CRU_MODEL: "", CRU_LIMITS_BUDGET: "x" };
    expect(load({ env }).settings).toEqual(DEFAULT_SETTINGS);
  });

  it("every key has a variable of its own and none of them is reserved", () => {
    const keys = [...new Set([...sectionKeys(), ...settingKeys()])].filter((key) => !key.endsWith("*"));
    const names = keys.map((key) => variableName(key.split(".")));
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => RESERVED_VARIABLES.test(name))).toEqual([]);
    expect(settingKeys()).toEqual(expect.arrayContaining(["model", "limits.budget_usd", "sandbox.mode", "queue.providers.*", "mcp.servers.*", "notify"]));
  });
});

describe("a file that is wrong", () => {
  it.each([
    ["modle: opus\n", "1:1 field.unknown modle: unknown key 'modle' (did you mean 'model'?)"],
    ["limits:\n  budget: 5\n", "2:3 field.unknown limits.budget: unknown key 'budget' ("],
    ["limits:\n  budgetUsd: 5\n", "2:3 field.unknown limits.budgetUsd: unknown key 'budgetUsd' (did you mean 'budget_usd'?)"],
    ["limits:\n  budget_usd: lots\n", "2:15 field.type limits.budget_usd: expected a number, found 'lots'"],
    ["limits:\n  time: soon\n", "2:9 field.value limits.time: expected a duration"],
    ["limits: 5\n", "1:9 field.type limits: expected a mapping, found 5"],
    ["runner: cluade\n", "1:9 field.value runner: 'cluade' is not allowed here (did you mean 'claude'?)"],
    ["permissions:\n  allow:\n    - Shell\n    - Netwrok\n", "4:7 permission.unknown permissions.allow.1: unknown permission 'Netwrok' ("],
    ["permissions: {deny: [SemanticSearch]}\n", "1:22 field.value permissions.deny.0: SemanticSearch cannot be denied"],
    ["sandbox: none\n", "1:10 field.value sandbox.mode: 'none' is not allowed here (one of: required, external, off)"],
    ["sandbox: {hosts: [a.example, 'https://b.example/']}\n", "1:30 field.value sandbox.hosts.1: 'https://b.example/' is no host; write the host alone, such as api.example.com or host:8443"],
    ["sandbox: {mode: required, host: []}\n", "1:27 field.unknown sandbox.host: unknown key 'host' (did you mean 'hosts'?)"],
    ["notify: [{type: sound}]\n", "field.value notify.0"],
    ["model: sonet\n", "1:8 model.unknown model: unknown model 'sonet' (did you mean 'sonnet'?"],
    ["- a\n", "1:1 field.type : settings must be a mapping"],
    ["model: a-1\nmodel: b-2\n", "2:1 yaml.duplicate_key model"],
    ["a: &x 1\nb: *x\n", "yaml.alias"],
    ["__proto__: {model: opus}\n", "yaml.unsafe_key"],
    ["model: [\n", "yaml.syntax"],
  ])("%j is told with place, field and suggestion, and ends a run with exit code 3", (text, expected) => {
    for (const given of [{ user: text }, { project: text }]) {
      const file = "user" in given ? "~/.config/crucible/config.yaml" : ".crucible/config.yaml";
      const problems = problemsOf(given);
      expect(problems.join("\n")).toContain(expected);
      expect(problems[0]).toContain(`${file}:`);
      expect(() => requireSettings(load(given))).toThrow(expect.objectContaining({ code: "invalid_setting", exitCode: 3 }));
    }
  });

  it("the other keys of it are still shown", () => {
    expect(load({ user: "model: opus\nrunner: nothing\n" }).settings).toMatchObject({ model: "opus", runner: "auto" });
  });

  it("a project file that is a link out of the project is not read", () => {
    const base = temporaryFolder();
    writeFiles(base, { "home/x": "", "secret.yaml": "model: opus\n", "project/.crucible/keep": "", "other/config.yaml": "model: opus\n" });
    symlinkSync(join(base, "secret.yaml"), join(base, "project", ".crucible", "config.yaml"));
    const env = { HOME: join(base, "home") };
    const loaded = loadSettings({ paths: findPaths(join(base, "project"), env), env, isTrusted: () => true });
    expect(loaded.settings.model).toBe("sonnet");
    expect(loaded.problems).toMatchObject([{ path: ".crucible/config.yaml", message: expect.stringContaining("leaves the project") as string }]);
  });

  it("the user's own file may be a link to anywhere", () => {
    const base = temporaryFolder();
    writeFiles(base, { "home/.config/crucible/keep": "", "dotfiles/c.yaml": "model: opus\n", "project/keep": "" });
    symlinkSync(join(base, "dotfiles", "c.yaml"), join(base, "home", ".config", "crucible", "config.yaml"));
    const env = { HOME: join(base, "home") };
    expect(loadSettings({ paths: findPaths(join(base, "project"), env), env, isTrusted: () => false }).settings.model).toBe("opus");
  });
});

describe("a project's file", () => {
  it.each([
    ["claude: {command: ./evil}\n", "", "claude.command"],
    ["claude:\n  args: [--dangerously-skip-permissions]\n", "", "claude.args"],
    ["claude: {args: []}\n", "claude: {args: [--x]}\n", "claude.args"],
    ["acp: {command: evil}\n", "", "acp.command"],
    ["acp: {command: [evil]}\n", "acp: {command: good}\n", "acp.command"],
    ["permissions: {allow: [Shell]}\n", "", "permissions.allow"],
    ["permissions: {allow: [Shell, NetworkAccess]}\n", "permissions: {allow: [Shell]}\n", "permissions.allow"],
    ["approvals: {timeout: 1h}\n", "", "approvals.timeout"],
    ["approvals: {timeout: 301}\n", "", "approvals.timeout"],
    ["approvals: {timeout: 200s}\n", "approvals: {timeout: 100s}\n", "approvals.timeout"],
    ["approvals: {on_timeout: approve}\n", "", "approvals.on_timeout"],
    ["notify: [{type: command, command: [evil]}]\n", "", "notify"],
    ["sandbox: off\n", "", "sandbox.mode"],
    ["sandbox: {mode: external}\n", "", "sandbox.mode"],
    ["sandbox: off\n", "sandbox: external\n", "sandbox.mode"],
    ["sandbox: {hosts: [evil.example]}\n", "", "sandbox.hosts"],
    ["sandbox: {hosts: [a.example, evil.example]}\n", "sandbox: {hosts: [a.example]}\n", "sandbox.hosts"],
    ["mcp: {servers: {x: {command: x, hosts: [evil.example]}}}\n", "", "mcp.servers.x"],
    ["mcp: {servers: {x: {command: evil, hosts: [a.example]}}}\n", "mcp: {servers: {x: {command: x, hosts: [a.example]}}}\n", "mcp.servers.x"],
  ])("%j over the user's %j is looser: not used, told, exit code 3", (project, user, field) => {
    const loaded = load({ project, user });
    expect(loaded.settings).toEqual(load({ user }).settings);
    expect(loaded.problems).toMatchObject([{ code: "setting.loosens", field, path: ".crucible/config.yaml", hint: "put it in ~/.config/crucible/config.yaml" }]);
    expect(loaded.problems[0]?.column).toBeGreaterThan(1);
    expect(() => requireSettings(loaded)).toThrow(expect.objectContaining({ exitCode: 3 }));
  });

  it.each([
    ["permissions: {deny: [Shell]}\n", "", (s: LoadedSettings["settings"]) => s.permissions.deny, ["Shell"]],
    ["permissions: {allow: []}\n", "permissions: {allow: [Shell]}\n", (s: LoadedSettings["settings"]) => s.permissions.allow, []],
    ["permissions: {allow: [Shell]}\n", "permissions: {allow: [Shell, NetworkAccess]}\n", (s: LoadedSettings["settings"]) => s.permissions.allow, ["Shell"]],
    ["approvals: {timeout: 10s, on_timeout: abort}\n", "approvals: {on_timeout: approve}\n", (s: LoadedSettings["settings"]) => s.approvals, { timeout: "10s", on_timeout: "abort" }],
    ["notify: []\n", "notify: [{type: command, command: [beep]}]\n", (s: LoadedSettings["settings"]) => s.notify, []],
    ["notify: [{type: bell}]\n", "notify: []\n", (s: LoadedSettings["settings"]) => s.notify, [{ type: "bell" }]],
    ["sandbox: required\n", "sandbox: {mode: off, hosts: [a.example]}\n", (s: LoadedSettings["settings"]) => s.sandbox, { mode: "required", hosts: ["a.example"] }],
    ["sandbox: {mode: external, hosts: []}\n", "sandbox: {mode: off, hosts: [a.example]}\n", (s: LoadedSettings["settings"]) => s.sandbox, { mode: "external", hosts: [] }],
    ["claude: {command: claude, args: []}\n", "", (s: LoadedSettings["settings"]) => s.claude, { command: "claude", args: [] }],
    ["limits: {budget_usd: 500}\nmcp: {servers: {x: {command: x}}}\n", "", (s: LoadedSettings["settings"]) => s.limits.budget_usd, 500],
    ["mcp: {servers: {x: {command: x, hosts: [a.example]}}}\n", "sandbox: {hosts: [a.example]}\n", (s: LoadedSettings["settings"]) => s.mcp.servers.x?.hosts, ["a.example"]],
  ])("%j over the user's %j is as tight or tighter and holds", (project, user, get, expected) => {
    const loaded = load({ project, user });
    expect(loaded.problems).toEqual([]);
    expect(get(loaded.settings)).toEqual(expected);
  });

  it("guarded sections have no key that nobody has thought about", () => {
    const keys = settingKeys().filter((key) => (GUARDED_SECTIONS as readonly string[]).includes(key.split(".")[0] ?? ""));
    expect(keys.sort()).toEqual([
      "acp.command", "approvals.on_timeout", "approvals.timeout", "claude.args", "claude.command", "notes.embeddings_model",
      "notes.embeddings_url", "notify", "permissions.allow", "permissions.deny",
      "sandbox.hosts", "sandbox.mode",
    ]);
  });

  it("that nobody trusted changes nothing at all, and what is wrong in it is still told", () => {
    const project = "model: opus\nrunner: claude\npermissions: {deny: [Shell]}\nsandbox: off\nmcp: {servers: {evil: {command: evil}}}\nlimits: {budget_usd: 999}\n";
    const loaded = load({ project, trusted: false });
    expect(loaded.settings).toEqual(DEFAULT_SETTINGS);
    expect(loaded.projectIgnored).toBe(true);
    expect(loaded.problems).toMatchObject([{ code: "setting.loosens", line: 4 }]);
    expect(new Set(Object.values(loaded.origin).map((o) => o.layer))).toEqual(new Set(["builtin"]));
  });

  it("what flag and environment say stands above it, tighter or not", () => {
    expect(load({ project: "sandbox: required\n", env: { CRU_SANDBOX: "off" } }).settings.sandbox.mode).toBe("off");
  });
});
