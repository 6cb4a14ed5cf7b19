import { expect, it } from "vitest";
import type { ScriptedReply } from "../../src/scripted/script.ts";
import { chatMachine } from "../support/chat.ts";
import { webServer } from "../support/network.ts";
import { describeSandboxed } from "../support/sandbox.ts";

const reach = (port: number): string => `node -e 'require("http").get({host:"127.0.0.1",port:3128,path:"http://localhost:${port}/x"},r=>r.on("data",d=>process.stdout.write(d)))'`;

describeSandboxed("sandbox.hosts in a chat", () => {
  it("opens them to commands; the user hears of another host with the command that opens it", async () => {
    const [open, closed] = [await webServer("open"), await webServer("closed")];
    const script: ScriptedReply[] = [
      { tools: [{ name: "run_command", input: { command: reach(open.port) } }, { name: "run_command", input: { command: reach(closed.port) } }] },
      { tools: [{ name: "reflect", input: { goal_achieved: true, progress: "all", content: "looked" } }], text: "Looked." },
    ];
    const box = await chatMachine(script);
    const { code, stderr } = await box.chat(["look"], { env: { CRU_SANDBOX_HOSTS: `localhost:${open.port}` } });
    expect(code).toBe(0);
    const results = box.session().events.flatMap((event) => (event.type === "agent.tool_result" && event.tool === "run_command" ? [event.output] : []));
    expect(results[0]).toBe("open GET /x \n[exit code 0]");
    expect(results[1]).toContain(`[not open in the sandbox: localhost:${closed.port}; the user is told]`);
    expect(stderr).toContain(`the agent tried to reach localhost:${closed.port}, which is not open; if it should: cru config set sandbox.hosts localhost:${open.port},localhost:${closed.port}`);
    expect([open.connections(), closed.connections()]).toEqual([1, 0]);
  });

  it("an agent whose right was denied has no way out", async () => {
    const open = await webServer("open");
    const box = await chatMachine([{ tools: [{ name: "run_command", input: { command: "env | grep -ci _proxy" } }] }, { text: "Looked.", tools: [{ name: "reflect", input: { goal_achieved: true, progress: "all", content: "looked" } }] }]);
    await box.chat(["look", "--deny", "NetworkAccess"], { env: { CRU_SANDBOX_HOSTS: `localhost:${open.port}` } });
    expect(box.session().events.flatMap((event) => (event.type === "agent.tool_result" && event.tool === "run_command" ? [event.output] : []))).toEqual(["0\n[exit code 1]"]);
  });
});
