import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/table.ts";
import { machine } from "../support/cru.ts";

describe("help", () => {
  it.each([[["--help"]], [["-h"]], [["help"]], [[]]])("cru %j prints the overview with first steps and exit codes", async (args) => {
    const { code, stdout, stderr } = await machine().cru(args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const word of new Set(COMMANDS.map((c) => c.name.split(" ")[0]!))) expect(stdout).toMatch(new RegExp(`^  ${word}\\b`, "m"));
    expect(stdout).toContain("cru init");
    expect(stdout).toContain("Exit codes: 0 ok");
  });

  it("of every command shows its usage, its options and its examples", { timeout: 120_000 }, async () => {
    const { cru } = machine();
    for (const command of COMMANDS) {
      const { code, stdout } = await cru([...command.name.split(" "), "--help"]);
      expect(code).toBe(0);
      expect(stdout).toContain(`Usage: cru ${command.name}`);
      for (const option of command.options ?? []) expect(stdout).toContain(option.flags);
      expect(command.examples ?? [], `examples of ${command.name}`).not.toEqual([]);
      for (const example of command.examples ?? []) expect(stdout).toContain(`$ ${example}`);
    }
  });

  it.each([[["help", "agents"]], [["agents", "--help"]], [["agents", "help"]]])("cru %j shows the commands of a noun", async (args) => {
    const { code, stdout } = await machine().cru(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}list {2,}/m);
  });

  it.each([
    [["agents"], "`cru agents` needs a command", "one of: list"],
    [["agnts"], "`cru` has no command 'agnts'", "did you mean `cru agents`?"],
    [["agents", "lst"], "`cru agents` has no command 'lst'", "did you mean `cru agents list`?"],
    [["validate-everything"], "`cru` has no command 'validate-everything'", "see `cru --help`"],
    [["agents", "list", "--jsn"], "cru: agents list: unknown option '--jsn'", "did you mean --json?"],
    [["--jsn"], "unknown option '--jsn'", "see `cru --help`"],
    [["agents", "list", "more"], "too many arguments", "see `cru agents list --help`"],
    [["completion"], "missing required argument 'SHELL'", "see `cru completion --help`"],
    [["--trust"], "`cru` needs a command", "one of: "],
  ])("cru %j is a usage error that helps", async (args, message, hint) => {
    const { code, stdout, stderr } = await machine().cru(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain("    at ");
  });

  it("a command without its noun is found", async () => {
    expect((await machine().cru(["list"])).stderr).toContain("`cru agents list`");
  });

  it("global options may stand before and after the command", async () => {
    const { cru } = machine();
    for (const args of [["--no-input", "agents", "list"], ["agents", "list", "--no-input"], ["--trust", "agents", "list", "--json"]]) {
      expect((await cru(args)).code).toBe(0);
    }
  });

  it("--version prints the version, whatever follows", async () => {
    const { cru } = machine();
    for (const args of [["--version"], ["-V"], ["-V", "--json"]]) expect(await cru(args)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});
