import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, it } from "vitest";
import { repository } from "../../support/cru.ts";
import { loop } from "../../support/loop.ts";
import { mcpPlace, processesWith } from "../../support/mcp.ts";
import { until } from "../../support/processes.ts";
import { program, start } from "../../support/program.ts";
import { describeSandboxed } from "../../support/sandbox.ts";

const src = join(repository, "src");

describeSandboxed("an agent with MCP tools", () => {
  it("calls them like its own: wrong input comes back, right input runs in the sandbox", async () => {
    const { server, connect } = mcpPlace();
    const { tools } = await connect({ calc: server("good") });
    const call = (input: unknown) => ({ tools: [{ name: "mcp__calc__add", input }] });
    const { end, events, requests } = await loop([call({ a: "2" }), call({ a: 2, b: 3 }), { text: "it is 5" }], { tools });
    expect(end).toMatchObject({ status: "complete", text: "it is 5" });
    expect(events.flatMap((e) => (e.type === "agent.tool_result" ? [[e.ok, e.output]] : []))).toEqual([
      [false, "invalid input for mcp__calc__add: b: is missing; a: expected number. Call it again with these corrected."],
      [true, "5"],
    ]);
    const shown = (requests[0]!.body as { tools: { name: string; input_schema: { required?: string[] } }[] }).tools;
    expect(shown.find((t) => t.name === "mcp__calc__add")?.input_schema.required).toEqual(["a", "b"]);
  });

  it("the bundled client works, and kill -9 of its process ends the servers", async () => {
    const { server, workspace, home } = mcpPlace();
    const word = `bundled-${process.pid}-${Date.now()}`;
    const script = await program(`
      import { writeFileSync } from "node:fs";
      import { connectMcpServers } from "@src/tools/mcp/connect-mcp-servers.ts";
      const [workspace, home, server, word, flag] = process.argv.slice(2);
      const mcp = await connectMcpServers({ s: JSON.parse(server) }, { workspace, home, mode: "required" });
      const call = (name, input) => mcp.tools.find((t) => t.name === name).run(input, { workspace, callId: "c", signal: new AbortController().signal, emit() {} });
      await call("mcp__s__child", { word });
      writeFileSync(flag, (await call("mcp__s__add", { a: 1, b: 2 })).output);
    `);
    const flag = join(home, "flag");
    const child = start(script, [workspace, home, JSON.stringify(server("good")), word, flag]);
    await until(() => existsSync(flag) && processesWith(word).length > 1);
    child.kill("SIGKILL");
    await child.ended;
    await until(() => processesWith(word).length === 0);
    expect(readFileSync(flag, "utf8")).toBe("3");
  });
});

it("the SDKs are named in one file each, and only where a server is configured is it loaded", async () => {
  const users = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts") && /^import (?!type)[^;]*from "@modelcontextprotocol|import\("@modelcontextprotocol[^"]*"\)(?!\.)/m.test(readFileSync(join(src, file), "utf8").replace(/typeof import\("[^"]*"\)/g, "")));
  expect(users.toSorted()).toEqual(["app/mcp/tool-server.ts", "tools/mcp/load-sdk.ts"]);
  const { metafile } = await build({
    stdin: { contents: 'export * from "./tools/mcp/connect-mcp-servers.ts";', resolveDir: src, loader: "ts" },
    bundle: true, splitting: true, format: "esm", platform: "node", outdir: "out", write: false, metafile: true,
  });
  const entry = Object.values(metafile.outputs).find((o) => o.entryPoint === "<stdin>")!;
  const loaded = [entry, ...entry.imports.filter((i) => i.kind === "import-statement").flatMap((i) => metafile.outputs[i.path] ?? [])].flatMap((o) => Object.keys(o.inputs));
  expect(loaded.filter((file) => file.includes("@modelcontextprotocol"))).toEqual([]);
});
