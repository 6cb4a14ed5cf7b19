import { expect, it } from "vitest";
import { mcpPlace } from "../../support/mcp.ts";
import { webServer } from "../../support/network.ts";
import { describeSandboxed } from "../../support/sandbox.ts";

describeSandboxed("hosts of a server", () => {
  it("are open to that server alone, and only with the right", async () => {
    const [web, other] = [await webServer("web"), await webServer("other")];
    const { server, connect } = mcpPlace();
    const hosts = [`localhost:${web.port}`];
    const { call, warnings } = await connect({
      open: server("good", { permissions: ["NetworkAccess"], hosts }), shut: server("good", { permissions: ["FilesystemRead"] }), offline: server("good", { permissions: ["FilesystemRead"], hosts }),
    });
    const fetch = async (name: string, port: number): Promise<string> => (await call(`mcp__${name}__fetch`, { url: `http://127.0.0.1:${port}/x` })).output;
    expect(await fetch("open", web.port)).toContain("web GET /x");
    expect([await fetch("open", other.port), await fetch("shut", web.port), await fetch("offline", web.port)]).toEqual(Array.from({ length: 3 }, () => expect.stringContaining("no network")));
    expect([web.connections(), other.connections(), warnings]).toEqual([1, 0, []]);
  });
});
