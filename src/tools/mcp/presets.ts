import type { McpPreset, McpServer } from "../../contract/settings.ts";

export type Preset = {
  server(place: { workspace: string }): McpServer;
  /** Variables that it cannot do without; the first of `from` that the user has set becomes its value, for this server alone. */
  variables: readonly { name: string; from: readonly string[] }[];
  /** A further program that it cannot do without, by any of these names; its path is given after the option. */
  program?: { option: string; names: readonly string[] };
  /** How to get what it needs. */
  install: string;
};

/** Current in November 2026. The servers for puppeteer and github of the protocol's own project are archived; these are what took their place. */
export const PRESETS: Readonly<Record<McpPreset, Preset>> = {
  filesystem: {
    server: ({ workspace }) => ({
      command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", workspace], permissions: ["FilesystemRead", "FilesystemWrite"],
    }),
    variables: [],
    install: "npm install -g @modelcontextprotocol/server-filesystem",
  },
  puppeteer: {
    server: () => ({
      command: "npx",
      // In our sandbox the browser cannot make one of its own; it needs none there. Nothing is reported to its makers.
      args: ["-y", "chrome-devtools-mcp", "--headless", "--isolated", "--no-usage-statistics", "--no-performance-crux", "--chrome-arg=--no-sandbox", "--chrome-arg=--disable-setuid-sandbox"],
      permissions: ["FilesystemRead", "FilesystemWrite"],
    }),
    variables: [],
    program: { option: "--executable-path", names: ["google-chrome-stable", "google-chrome", "chromium", "chromium-browser", "chrome"] },
    install: "npm install -g chrome-devtools-mcp, and Chrome or Chromium on your PATH",
  },
  github: {
    server: () => ({
      command: "github-mcp-server", args: ["stdio"], permissions: ["NetworkAccess"], hosts: ["api.github.com", "raw.githubusercontent.com", "uploads.github.com"],
    }),
    variables: [{ name: "GITHUB_PERSONAL_ACCESS_TOKEN", from: ["GITHUB_PERSONAL_ACCESS_TOKEN", "GITHUB_TOKEN", "GH_TOKEN"] }],
    install: "get GitHub's own program from https://github.com/github/github-mcp-server/releases (the npm package of that name is another one)",
  },
};
