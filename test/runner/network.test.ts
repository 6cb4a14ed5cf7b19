import { expect, it } from "vitest";
import type { Permission } from "../../src/contract/permission.ts";
import { done, ofType, runClaude } from "../support/claude.ts";
import { webServer } from "../support/network.ts";
import { obey } from "../support/obedient.ts";
import { describeClaude } from "../support/peers.ts";
import { describeSandboxed } from "../support/sandbox.ts";

const RIGHTS: Permission[] = ["FilesystemRead", "FilesystemWrite", "SemanticSearch", "Shell"];
const online = { permissions: [...RIGHTS, "NetworkAccess" as const] };
const reach = (port: number): string => `exec 5<>/dev/tcp/127.0.0.1/3128; printf 'GET http://localhost:${port}/x HTTP/1.1\\r\\nhost: h\\r\\nconnection: close\\r\\n\\r\\n' >&5; cat <&5`;
const bash = (script: string): string => `bash -c ${JSON.stringify(script.replaceAll("$", "\\$"))}`;

describeSandboxed("the network of a whole agent", () => {
  it("has the open hosts with NetworkAccess, and tells of the others once with the way to open them", async () => {
    const [open, closed] = [await webServer("open"), await webServer("closed")];
    const hosts = [`localhost:${open.port}`];
    const order = `${bash(reach(open.port))}; ${bash(reach(closed.port))}; ${bash(reach(closed.port))}; env | grep -c -i proxy`;
    const { outcome, events } = await obey(order, { request: online, setup: { sandbox: { mode: "required", hosts } } });
    expect(outcome.text).toContain("open GET /x");
    expect(outcome.text).toContain(`localhost:${closed.port} is not open in this sandbox`);
    expect(closed.connections()).toBe(0);
    expect(ofType(events, "warning").map((e) => e.message).filter((message) => message.includes("tried to reach"))).toEqual([
      `the agent tried to reach localhost:${closed.port}, which is not open; if it should: cru config set sandbox.hosts localhost:${open.port},localhost:${closed.port}`,
    ]);
  });

  it.each([
    ["without the right", { permissions: RIGHTS }, "required"],
    ["where the right must be asked for", { ...online, requiresApproval: ["NetworkAccess"] }, "required"],
    ["without a sandbox of ours", online, "external"],
  ] as const)("has no proxy %s", async (_when, request, mode) => {
    const web = await webServer("open");
    const { outcome } = await obey(`env | grep -i _proxy; ${bash(reach(web.port))}`, { request, setup: { sandbox: { mode, hosts: [`localhost:${web.port}`] } } });
    expect(outcome.text).toMatch(/Connection refused/);
    expect(outcome.text).not.toContain("_proxy=");
    expect(web.connections()).toBe(0);
  });
});

describeClaude("the real CLI with open hosts", () => {
  it("still asks its model over its own socket, and its commands reach the open host", async () => {
    const web = await webServer("open");
    const { outcome, events, requests } = await runClaude(
      [{ text: "I look.", tools: [{ name: "Bash", input: { command: bash(reach(web.port)), description: "look" } }] }, { text: done("seen") }],
      { request: online, setup: { sandbox: { mode: "required", hosts: [`localhost:${web.port}`] } } },
    );
    expect(outcome).toMatchObject({ status: "completed", output: { summary: "seen" } });
    expect(requests.length).toBe(2);
    expect(web.seen.map(({ url }) => url)).toEqual(["/x"]);
    expect(ofType(events, "warning").filter((e) => e.message.includes("tried to reach"))).toEqual([]);
  });
});
