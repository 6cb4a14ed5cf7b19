import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { bashScript } from "../../src/cli/completion/bash.ts";
import { fishScript } from "../../src/cli/completion/fish.ts";
import { places } from "../../src/cli/completion/places.ts";
import { zshScript } from "../../src/cli/completion/zsh.ts";
import { COMMANDS } from "../../src/cli/table.ts";
import { finish, machine, repository } from "../support/cru.ts";
import { temporaryFolder } from "../support/temp.ts";

/** What a real bash offers for each command line; the last word is the one being typed. */
async function bashOffers(script: string, lines: string[][], path = process.env.PATH ?? ""): Promise<string[][]> {
  const folder = temporaryFolder();
  const file = join(folder, "completion.bash");
  writeFileSync(file, script);
  const driver = `source "$1"; shift
while (($#)); do
  COMP_WORDS=(); while [[ $1 != ';' ]]; do COMP_WORDS+=("$1"); shift; done; shift
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _cru; printf '%s\\n' "\${COMPREPLY[*]}"
done`;
  const run = await finish("bash", ["--norc", "-c", driver, "bash", file, ...lines.flatMap((line) => [...line, ";"])], { cwd: folder, env: { PATH: path, HOME: folder } });
  expect(run).toMatchObject({ code: 0, stderr: "" });
  return run.stdout.split("\n").slice(0, -1).map((line) => line.split(" ").filter((w) => w !== ""));
}

/** A `cru` on PATH that answers `agents list --json` with these names. */
function fakeCru(names: string[]): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "cru"), `#!/bin/sh\ncat <<'END'\n${JSON.stringify({ agents: names.map((name) => ({ name, description: "d" })), problems: [] })}\nEND\n`, { mode: 0o755 });
  return `${folder}:${process.env.PATH}`;
}

function installed(program: string): boolean {
  return (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, program)));
}

const withAgents = bashScript(places([{ name: "agents show", summary: "show", args: [{ name: "NAME", summary: "", values: "agents" }], options: [{ flags: "--json", summary: "" }], load: () => Promise.reject(new Error("unused")) }]));

describe("completion", () => {
  it("offers commands, then their commands, then their options, in a real bash", async () => {
    const { stdout } = await machine().cru(["completion", "bash"]);
    const [top, agents, options, started, shells, unknown] = await bashOffers(stdout, [
      ["cru", ""], ["cru", "agents", ""], ["cru", "agents", "list", "--"], ["cru", "agents", "list", "--j"], ["cru", "completion", ""], ["cru", "agents", "list", "zzz"],
    ]);
    expect(top).toEqual([...new Set(COMMANDS.map((c) => c.name.split(" ")[0]))]);
    expect(agents).toEqual(COMMANDS.filter((c) => c.name.startsWith("agents ")).map((c) => c.name.split(" ")[1]));
    expect(options).toEqual(expect.arrayContaining(["--json", "--trust", "--help"]));
    expect(started).toEqual(["--json"]);
    expect(shells).toEqual(["bash", "zsh", "fish"]);
    expect(unknown).toEqual([]);
  });

  it("offers the agents of the folder, in a real bash", async () => {
    const offers = await bashOffers(withAgents, [["cru", "agents", "show", ""], ["cru", "agents", "show", "ex"], ["cru", "agents", "show", "--"]], fakeCru(["explore", "extract", "implementer"]));
    expect(offers).toEqual([["explore", "extract", "implementer"], ["explore", "extract"], ["--help", "--json", "--trust", "--no-input"]]);
  });

  it("never lets an agent's name run in the shell", async () => {
    const mark = join(temporaryFolder(), "ran");
    const hostile = [`$(touch ${mark})`, `\`touch ${mark}\``, `a;touch ${mark}`, "*", "a b"];
    const offers = await bashOffers(withAgents, [["cru", "agents", "show", ""]], fakeCru([...hostile, "good"]));
    expect(offers).toEqual([["good"]]);
    expect(existsSync(mark)).toBe(false);
  });

  it("knows every command and every option of the table, in all three scripts", () => {
    const all = places();
    for (const script of [bashScript(all), zshScript(all), fishScript(all)]) {
      const missing = COMMANDS.flatMap((c) => [c.name, ...(c.options ?? []).map((o) => /--([a-z-]+)/.exec(o.flags)?.[1] ?? "")]).filter((text) => !script.includes(text));
      expect(missing).toEqual([]);
    }
  });

  it.for(["bash", "zsh", "fish"])("is valid %s where that shell is installed", async (shell, { skip }) => {
    skip(!installed(shell), `${shell} is not installed`);
    const { stdout, code } = await machine().cru(["completion", shell]);
    expect(code).toBe(0);
    const file = join(temporaryFolder(), "script");
    writeFileSync(file, stdout);
    expect(await finish(shell, ["-n", file], { cwd: repository, env: { PATH: process.env.PATH ?? "" } })).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  it("of an unknown shell is a usage error that names the three", async () => {
    expect(await machine().cru(["completion", "tcsh"])).toMatchObject({ code: 2, stderr: expect.stringContaining("one of: bash, zsh, fish") });
    expect(await machine().cru(["completion", "bsh"])).toMatchObject({ code: 2, stderr: expect.stringContaining("did you mean 'bash'?") });
  });
});
