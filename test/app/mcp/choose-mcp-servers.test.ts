import { describe, expect, it } from "vitest";
import { chooseMcpServers, type McpChoice, mcpLabels } from "../../../src/app/mcp/choose-mcp-servers.ts";
import type { McpServer } from "../../../src/contract/settings.ts";
import type { ServerProgram } from "../../../src/tools/mcp/server-program.ts";

const SERVER: McpServer = { command: "tickets", permissions: ["FilesystemRead"] };
const there = (): ServerProgram => ({ ok: true, command: [], shown: [] });

function choose(change: Partial<McpChoice> = {}, find: (server: { command: string }) => ServerProgram = there, program = (): string | undefined => "/usr/bin/chromium") {
  return chooseMcpServers({ settings: { presets: [], servers: {} }, task: [], workspace: "/w", env: {}, ...change }, { find, program });
}

describe("which MCP servers an agent gets", () => {
  it("the session's presets and servers, for whoever is asked about", () => {
    const { servers, warnings } = choose({ settings: { presets: ["filesystem"], servers: { tickets: SERVER } } });
    expect(warnings).toEqual([]);
    expect(servers).toEqual({ filesystem: expect.objectContaining({ command: "npx" }), tickets: SERVER });
  });

  it("[EXE-6.2.2] a task adds its own and wins where names meet", () => {
    const other: McpServer = { command: "other", default: false };
    const settings = { presets: [], servers: { tickets: SERVER, other } };
    expect(Object.keys(choose({ settings }).servers)).toEqual(["tickets"]);
    expect(choose({ settings, task: ["puppeteer", "other"] }).servers).toMatchObject({ tickets: SERVER, puppeteer: { command: "npx" }, other });
    expect(choose({ settings, task: ["tickets=other"] }).servers).toEqual({ tickets: other });
  });

  it("a task's server that is not to be had is not replaced by the session's", () => {
    const settings = { presets: [], servers: { tickets: SERVER } };
    expect(choose({ settings, task: ["tickets=tickts"] })).toEqual({
      servers: {}, warnings: ["the task asks for the MCP server 'tickts', and there is none of that name (did you mean 'tickets'?)"],
    });
    expect(choose({ settings, task: ["__proto__", "\u001b[31mred"] }).warnings).toEqual([expect.stringContaining("'__proto__'"), expect.not.stringContaining("\u001b")]);
  });

  it("a definition of one's own stands before the preset of its name", () => {
    const settings = { presets: ["github" as const], servers: { github: SERVER } };
    expect(choose({ settings }).servers).toEqual({ github: SERVER });
    expect(choose({ settings, task: ["github"] }).servers).toEqual({ github: SERVER });
  });

  it("[EXE-6.3.1] [EXE-6.3.2] what is not installed is left out, and the warning says how to get it", () => {
    const missing = ({ command }: { command: string }): ServerProgram => ({ ok: false, why: `${command} was not found on PATH; install it` });
    const settings = { presets: ["filesystem" as const, "puppeteer" as const], servers: { tickets: SERVER, far: { url: "https://mcp.example" } } };
    const { servers, warnings } = choose({ settings }, missing);
    expect(Object.keys(servers)).toEqual(["far"]);
    expect(warnings).toEqual([
      "the MCP server filesystem is left out: npx was not found on PATH; npm install -g @modelcontextprotocol/server-filesystem",
      "the MCP server puppeteer is left out: npx was not found on PATH; npm install -g chrome-devtools-mcp, and Chrome or Chromium on your PATH",
      "the MCP server tickets is left out: tickets was not found on PATH; install it",
    ]);
  });

  it("[EXE-6.4.1] [EXE-6.4.2] filesystem, puppeteer and github need nothing but their names; the token of one goes to no other", () => {
    const settings = { presets: ["filesystem" as const, "puppeteer" as const, "github" as const], servers: {} };
    const { servers, warnings } = choose({ settings, workspace: "/the/workspace", env: { GITHUB_TOKEN: "ghp_x", OTHER: "y" } });
    expect(warnings).toEqual([]);
    expect(servers.filesystem).toEqual({ command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/the/workspace"], permissions: ["FilesystemRead", "FilesystemWrite"] });
    expect(servers.github).toMatchObject({ command: "github-mcp-server", env: { GITHUB_PERSONAL_ACCESS_TOKEN: "ghp_x" }, permissions: ["NetworkAccess"], hosts: expect.arrayContaining(["api.github.com"]) });
    expect(servers.puppeteer?.args?.slice(-2)).toEqual(["--executable-path", "/usr/bin/chromium"]);
    expect(servers.puppeteer).not.toHaveProperty("env");
    expect(choose({ task: ["puppeteer"] }, there, () => undefined).warnings).toEqual([expect.stringContaining("none of them was found on PATH; npm install -g chrome-devtools-mcp, and Chrome or Chromium on your PATH")]);
    expect(choose({ settings: { presets: ["github"], servers: {} } }).warnings).toEqual([
      "the MCP server github is left out: GITHUB_PERSONAL_ACCESS_TOKEN is not set; set it, or one of GITHUB_TOKEN, GH_TOKEN",
    ]);
  });

  it("labels of a bead name them", () => {
    expect(mcpLabels(["direct", "mcp:puppeteer", "mcp: a=b ", "mcp:", "xmcp:no"])).toEqual(["puppeteer", "a=b"]);
  });
});
