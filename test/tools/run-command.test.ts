import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { git, plainGit } from "../../src/lib/git.ts";
import { agentNetwork } from "../../src/sandbox/agent-network.ts";
import { type RunCommandDeps, runCommandTool } from "../../src/tools/run-command.ts";
import { webServer } from "../support/network.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { temporaryFolder, writeFiles } from "../support/temp.ts";
import { call, toolContext } from "../support/tool-context.ts";

function place(deps: Partial<RunCommandDeps> = {}) {
  const workspace = temporaryFolder();
  const tool = runCommandTool({
    sandbox: { mode: "required" }, withoutSandbox: "refuse", hasSandbox: true, home: temporaryFolder(), mayWrite: true,
    marker: { v: 1, depth: 0, trace_id: "t", session_id: "s", agent: "primary", permissions: ["Shell"] }, ...deps,
  });
  return { workspace, tool, run: (input: unknown, signal?: AbortSignal) => call(tool, input, toolContext(workspace, signal === undefined ? {} : { signal })) };
}

describeSandboxed("run_command", () => {
  it("reports output, errors and exit code", async () => {
    const { run } = place();
    expect(await run({ command: "echo hi; echo oops >&2" })).toEqual({ ok: true, output: "hi\n[stderr]\noops\n[exit code 0]" });
    expect(await run({ command: "exit 3" })).toEqual({ ok: false, output: "[exit code 3]" });
    expect((await run({ command: "no-such-program" })).output).toContain("[exit code 127]");
  });

  it("bounds the output and says so", async () => {
    const { run } = place();
    const { output } = await run({ command: "echo first; yes | head -c 5000000; echo last" });
    expect(output.length).toBeLessThan(31_000);
    expect(output).toMatch(/^first\n[^]*bytes cut[^]*\nlast\n\[exit code 0\]$/);
  });

  it("says when the time was over or the call was interrupted", async () => {
    const { run } = place();
    expect(await run({ command: "sleep 100", timeout_s: 0.3 })).toMatchObject({ ok: false, output: "[ended after 0.3 s, the time it had; give timeout_s for longer commands]" });
    expect(await run({ command: "sleep 100" }, AbortSignal.abort())).toMatchObject({ ok: false, output: "[interrupted]" });
  });

  it("commits with git only where the repository may be written", async () => {
    const { run, workspace } = place();
    await plainGit(["init", "-q", "-b", "main", workspace]);
    writeFiles(workspace, { a: "1" });
    const commit = "git add a && git -c user.name=n -c user.email=e@x.invalid commit -qm first";
    expect(await run({ command: commit })).toMatchObject({ ok: true });
    expect((await git({ gitDir: join(workspace, ".git") }, ["log", "--format=%s"])).stdout).toBe("first\n");
    const hidden = await run({ command: "g=commit; G=git; $G -c user.name=n -c user.email=e@x.invalid $g --allow-empty -qm second" });
    expect(hidden.ok).toBe(false);
    expect(hidden.output).toContain("name those that the command must change in `writes`");
    expect((await git({ gitDir: join(workspace, ".git") }, ["log", "--format=%s"])).stdout).toBe("first\n");
  });

  it("has the open hosts through the proxy, tells the model and the user which were not, and each host to the user once", async () => {
    const [open, closed] = [await webServer("open"), await webServer("closed")];
    const told: string[] = [];
    const network = agentNetwork({ permissions: ["Shell", "NetworkAccess"], requiresApproval: [] }, [`localhost:${open.port}`], (message) => told.push(message));
    const { run, tool } = place(network === undefined ? {} : { network });
    expect(tool.description).toContain(`only these hosts are open to it, through the proxy that HTTP_PROXY and HTTPS_PROXY name: localhost:${open.port}.`);
    const reach = (port: number): string => `node -e 'require("http").get({host:"127.0.0.1",port:3128,path:"http://localhost:${port}/x"},r=>r.on("data",d=>process.stdout.write(d)))'`;
    expect(await run({ command: reach(open.port) })).toEqual({ ok: true, output: "open GET /x \n[exit code 0]" });
    for (let time = 0; time < 2; time++) expect((await run({ command: reach(closed.port) })).output).toContain(`[exit code 0]\n[not open in the sandbox: localhost:${closed.port}; the user is told]`);
    expect(told).toEqual([expect.stringContaining(`cru config set sandbox.hosts localhost:${open.port},localhost:${closed.port}`)]);
    expect(closed.connections()).toBe(0);
  });

  it.each([
    [["Shell"], []],
    [["Shell", "NetworkAccess"], ["NetworkAccess"]],
  ] as const)("an agent with %j that must ask for %j has no network in its commands", (permissions, requiresApproval) => {
    expect(agentNetwork({ permissions, requiresApproval }, ["open.example"], () => {})).toBeUndefined();
  });

  it("tells about protected paths that appeared", async () => {
    const told: string[] = [];
    const { run } = place({ onAppeared: (appeared) => told.push(...appeared.map((a) => a.name)) });
    const { output } = await run({ command: "node -e 'fs.mkdirSync(\".co\" + \"ven\")'" });
    expect(output).toContain("[.coven is protected");
    expect(told).toEqual([".coven"]);
  });

  it("gives an agent that may not write a read-only workspace", async () => {
    const { run } = place({ mayWrite: false });
    expect((await run({ command: "echo x > a" })).ok).toBe(false);
  });

  it("S6: carries the marker of the agent that runs it", async () => {
    const { run } = place();
    expect((await run({ command: "cat /run/crucible/agent.json" })).output).toContain('"agent":"primary"');
  });
});

describe("run_command without a sandbox", () => {
  it("runs plainly only when every command was asked about", async () => {
    const asked = place({ hasSandbox: false, withoutSandbox: "ask" });
    expect(await asked.run({ command: "echo hi > a; cat a" })).toEqual({ ok: true, output: "hi\n[exit code 0]" });
    expect(readFileSync(join(asked.workspace, "a"), "utf8")).toBe("hi\n");
    expect((await asked.tool.preview?.({ command: "ls" }, toolContext(asked.workspace)))?.body).toContain("WITHOUT a sandbox");
  });

  it("refuses input that is no command", async () => {
    const { run } = place();
    expect((await run({ command: "a\0b" })).output).toContain("NUL");
    expect((await run({ command: "" })).ok).toBe(false);
    expect((await run({ command: "ls", writes: ["src"] })).output).toContain("writes");
  });
});
