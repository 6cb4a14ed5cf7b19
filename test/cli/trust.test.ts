import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/lib/sha256.ts";
import { type Machine, machine, repository } from "../support/cru.ts";

const AGENT = "---\nname: builder\ndescription: Builds\npermissions: [FilesystemWrite, Shell]\n---\nBuild it.\n";
const PROJECT = {
  ".crucible/agents/builder.md": AGENT,
  ".crucible/config.yaml": "model: opus\nmcp: {servers: {docs: {command: docs-server, args: [--port, \"1\"]}}}\n",
  ".coven/grimoires/g.yaml": "name: g\ndescription: d\nsteps:\n  - {name: l, type: loop, steps: [{name: t, type: script, command: make test}]}\n",
  ".coven/spells/s.md": "Do it.\nWell.\n",
  ".claude/agents/c.md": "---\nname: c\ndescription: d\n---\nx\n",
  ".mcp.json": JSON.stringify({ mcpServers: { files: { command: "npx", args: ["-y", "files"], env: { TOKEN: "x" } }, web: { url: "https://mcp.example" } } }),
};

const statuses = async (m: Machine): Promise<Record<string, string>> => {
  const { files } = JSON.parse((await m.cru(["trust", "--json"])).stdout) as { files: { path: string; status: string }[] };
  return Object.fromEntries(files.map((f) => [f.path, f.status]));
};

const hasTerminal = existsSync("/usr/bin/script") && process.platform === "linux";

/** Answers the one question on a real terminal. */
function onTerminal(m: Machine, answer: string): Promise<{ code: number; seen: string }> {
  const child = spawn("/usr/bin/script", ["-qec", `stty cols 100; exec "${process.execPath}" "${join(repository, "dist", "main.js")}" trust`, "/dev/null"], {
    cwd: m.project, env: { PATH: process.env.PATH, HOME: m.home, TERM: "xterm", SHELL: "/bin/sh" },
  });
  let seen = "";
  let answered = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    seen += text;
    if (answered || !seen.includes("Use these files")) return;
    answered = true;
    child.stdin.write(answer);
  });
  return new Promise((done, fail) => child.on("error", fail).on("close", (code) => done({ code: code ?? -1, seen })));
}

describe("cru trust", () => {
  it.skipIf(!hasTerminal)("asks once on a terminal: yes trusts, no and Ctrl-C do not", async () => {
    const m = machine({ project: PROJECT });
    expect((await onTerminal(m, "n")).code).toBe(4);
    expect((await onTerminal(m, "\u0003")).code).toBe(130);
    expect(Object.values(await statuses(m))).toEqual(Array.from({ length: 6 }, () => "new"));
    const yes = await onTerminal(m, "y");
    expect(yes).toMatchObject({ code: 0, seen: expect.stringContaining("Trusted: 6 files") as string });
    expect(Object.values(await statuses(m))).toEqual(Array.from({ length: 6 }, () => "trusted"));
  });

  it("headless it shows what there is and what matters in it, trusts nothing, and ends with exit code 4", async () => {
    const m = machine({ project: PROJECT });
    for (const args of [["trust"], ["trust", "--no-input"]]) {
      const result = await m.cru(args);
      expect(result.code).toBe(4);
      for (const line of [
        "new      .crucible/agents/builder.md", "agent builder: permissions FilesystemWrite, Shell; prompt of 1 line", "model: opus",
        "mcp.servers.docs: {command: docs-server, args: [--port, \"1\"]}", "runs: make test", "text that agents are given, 2 lines",
        "agent c: tools every right of whoever starts it", "MCP server files runs: npx -y files, with TOKEN in its environment", "MCP server web at https://mcp.example",
      ]) expect(result.stdout).toContain(line);
      expect(result.stderr).toContain("cru trust --yes");
    }
    expect(await statuses(m)).toEqual(Object.fromEntries(Object.keys(PROJECT).map((path) => [path, "new"])));
  });

  it("--yes trusts exactly what is there, and again has nothing to do", async () => {
    const m = machine({ project: PROJECT });
    const result = await m.cru(["trust", "--yes"]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toContain("Trusted: 6 files");
    expect(await m.cru(["trust"])).toEqual({ code: 0, stdout: "Nothing has changed since you trusted this project (6 files).\n", stderr: "" });
    expect((await m.cru(["config", "get", "model"])).stdout).toBe("opus\n");
  });

  it("--json names every file with status and hash", async () => {
    const m = machine({ project: { ".crucible/agents/builder.md": AGENT } });
    const file = { path: ".crucible/agents/builder.md", sha256: sha256(AGENT) };
    const before = await m.cru(["trust", "--json"]);
    expect([before.code, JSON.parse(before.stdout)]).toEqual([4, { root: m.project, trusted: false, files: [{ ...file, status: "new" }] }]);
    const after = await m.cru(["trust", "--json", "--yes"]);
    expect([after.code, JSON.parse(after.stdout)]).toEqual([0, { root: m.project, trusted: true, files: [{ ...file, status: "trusted" }] }]);
  });

  it("a changed byte is untrusted again and shown as a diff; added and removed files are named", async () => {
    const m = machine({ project: PROJECT });
    await m.cru(["trust", "--yes"]);
    writeFileSync(join(m.project, ".crucible/agents/builder.md"), AGENT.replace("Build it.", "Build it!\r"));
    writeFileSync(join(m.project, ".crucible/agents/second.md"), AGENT);
    rmSync(join(m.project, ".mcp.json"));
    const result = await m.cru(["trust"]);
    expect(result.code).toBe(4);
    expect(result.stdout).toContain("changed  .crucible/agents/builder.md");
    expect(result.stdout).toMatch(/ +-Build it\.\n +\+Build it!␍\n/);
    expect(result.stdout).toContain("new      .crucible/agents/second.md");
    expect(result.stdout).toContain("removed  .mcp.json");
    expect(result.stdout).toContain("as you trusted it: 4 files");
    await m.cru(["trust", "--yes"]);
    expect(Object.values(await statuses(m))).toEqual(Array.from({ length: 6 }, () => "trusted"));
  });

  it("a changed settings file is not used until it is trusted again", async () => {
    const m = machine({ project: PROJECT });
    await m.cru(["trust", "--yes"]);
    writeFileSync(join(m.project, ".crucible/config.yaml"), "model: haiku\n");
    expect(await m.cru(["config", "get", "model"])).toMatchObject({ code: 0, stdout: "sonnet\n", stderr: expect.stringContaining("not trusted") as string });
    expect((await m.cru(["config", "get", "model", "--trust"])).stdout).toBe("haiku\n");
    expect((await m.cru(["config", "get", "model"], { env: { CRU_TRUST: "1" } })).stdout).toBe("haiku\n");
    expect((await m.cru(["config", "get", "model"])).stdout).toBe("sonnet\n");
  });

  it("--revoke forgets, also the kept copies", async () => {
    const m = machine({ project: PROJECT });
    await m.cru(["trust", "--yes"]);
    expect((await m.cru(["trust", "--revoke"])).code).toBe(0);
    // A lock says nothing about what was trusted.
    expect(readdirSync(join(m.home, ".local/state/crucible/trust")).filter((name) => !/\.lock(\.pid)?$/.test(name))).toEqual([]);
    expect((await m.cru(["trust", "--json"])).code).toBe(4);
    expect(await m.cru(["trust", "--revoke"])).toMatchObject({ code: 0, stdout: "Nothing of this project was trusted.\n" });
  });

  it("a project with nothing of its own needs no trust", async () => {
    expect(await machine().cru(["trust"])).toMatchObject({ code: 0, stdout: expect.stringContaining("nothing to trust") as string });
  });

  it("a link out of the project is shown as refused and never trusted", async () => {
    const m = machine({ project: PROJECT, home: { "secret.md": "secret text" } });
    symlinkSync(join(m.home, "secret.md"), join(m.project, ".crucible/agents/secret.md"));
    const result = await m.cru(["trust", "--yes"]);
    expect(result.code).toBe(0);
    expect(result.stdout).toContain("refused  .crucible/agents/secret.md  (a link that leaves the project; never used)");
    expect(result.stdout).not.toContain("secret text");
    expect((await statuses(m))[".crucible/agents/secret.md"]).toBe("refused");
    const [folder = ""] = readdirSync(join(m.home, ".local/state/crucible/trust"));
    expect(readFileSync(join(m.home, ".local/state/crucible/trust", folder, "manifest.json"), "utf8")).not.toContain("secret.md");
  });

  it("trust in one clone says nothing about another", async () => {
    const m = machine({ project: PROJECT, home: { "other/.crucible/agents/builder.md": AGENT } });
    await m.cru(["trust", "--yes"]);
    expect((await m.cru(["trust"], { cwd: join(m.home, "other") })).code).toBe(4);
  });
});
