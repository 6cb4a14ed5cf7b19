import { describe, expect, it } from "vitest";
import { PERMISSIONS } from "../../src/contract/permission.ts";
import { machine } from "../support/cru.ts";

const agent = (name: string, permissions: string): string => `---\nname: ${name}\ndescription: d\npermissions: ${permissions}\n---\nhello\n`;
const files = { ".crucible/agents/wide.md": agent("wide", "[FilesystemWrite, Shell, NetworkAccess]"), ".crucible/agents/narrow.md": agent("narrow", "[FilesystemWrite]") };

type Explained = { granted: string[]; reduced: string[]; rights: { permission: string; granted: boolean; why: string }[]; parent: object; denied_by_settings: string[] };

describe("cru agents explain", () => {
  const explain = async (args: string[], project: Record<string, string> = files, env: Record<string, string> = {}): Promise<Explained> => {
    const { code, stdout, stderr } = await machine({ project }).cru(["agents", "explain", ...args, "--json"], { env });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    return JSON.parse(stdout) as Explained;
  };

  it("gives every right with a reason, under the default primary, which has all", async () => {
    const explained = await explain(["wide"]);
    expect(explained.parent).toEqual({ name: null, permissions: PERMISSIONS });
    expect(explained.granted).toEqual(["FilesystemRead", "FilesystemWrite", "SemanticSearch", "NetworkAccess", "Shell"]);
    expect(explained.rights.map((r) => r.permission)).toEqual(PERMISSIONS);
    expect(Object.fromEntries(explained.rights.map((r) => [r.permission, r.why]))).toMatchObject({
      FilesystemRead: expect.stringContaining("baseline"),
      Shell: "the definition asks for it and the parent has it",
      DatabaseRead: "the definition does not ask for it",
    });
  });

  it("under a narrower parent names what the agent does without", async () => {
    expect(await explain(["wide", "--parent", "narrow"])).toMatchObject({
      parent: { name: "narrow", permissions: ["FilesystemRead", "FilesystemWrite", "SemanticSearch"] },
      granted: ["FilesystemRead", "FilesystemWrite", "SemanticSearch"],
      reduced: ["NetworkAccess", "Shell"],
    });
  });

  it("takes the rights that a spawn names", async () => {
    expect((await explain(["wide", "--allow", "Shell"])).granted).toEqual(["FilesystemRead", "SemanticSearch", "Shell"]);
  });

  it("of a spawn that would be refused says which right and what the parent has", async () => {
    const { cru } = machine({ project: files });
    const { code, stdout, stderr } = await cru(["agents", "explain", "wide", "--parent", "narrow", "--allow", "Shell"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("permission 'Shell' exceeds the parent's; the parent's permissions: FilesystemRead, FilesystemWrite, SemanticSearch");
    expect(JSON.parse((await cru(["agents", "explain", "narrow", "--allow", "Shell", "--json"])).stdout)).toMatchObject({ error: { code: "permission_refused" } });
  });

  it("counts the settings' denials: the user's always, the project's once it is trusted", async () => {
    const denying = { ...files, ".crucible/config.yaml": "permissions: {deny: [Shell]}\n" };
    expect((await explain(["wide"], denying)).granted).toContain("Shell");
    const trusted = await explain(["wide"], denying, { CRU_TRUST: "1" });
    expect(trusted.granted).not.toContain("Shell");
    expect(trusted.rights.find((r) => r.permission === "Shell")?.why).toContain("the settings deny it");
    expect((await explain(["wide"], files, { CRU_PERMISSIONS_DENY: "NetworkAccess" })).denied_by_settings).toEqual(["NetworkAccess"]);
  });

  it("prints tab-separated lines into a pipe: right, granted, parent, definition, spawn, denied, why", async () => {
    const { stdout } = await machine({ project: files }).cru(["agents", "explain", "narrow"]);
    const lines = stdout.trimEnd().split("\n").map((line) => line.split("\t"));
    expect(lines).toHaveLength(PERMISSIONS.length);
    expect(lines[1]).toEqual(["FilesystemWrite", "yes", "yes", "yes", "-", "no", "the definition asks for it and the parent has it"]);
  });

  it.each([
    [["nobody"], "agent not found: nobody"],
    [["wide", "--parent", "narow"], "did you mean 'narrow'?"],
    [["wide", "--allow", "Shel"], "did you mean 'Shell'?"],
  ])("%j exits 2 with help", async (args, words) => {
    expect(await machine({ project: files }).cru(["agents", "explain", ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
  });
});
