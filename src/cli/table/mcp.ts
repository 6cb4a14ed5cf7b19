import type { Command } from "../command.ts";

export const MCP: readonly Command[] = [
  {
    name: "mcp",
    summary: "our agents, notes and tools as an MCP server on stdio, for another program",
    options: [
      { flags: "--agent <name>", summary: "under the rights and gates of this agent" },
      { flags: "--allow <permissions>", summary: "do not ask for these, with commas between" },
      { flags: "--deny <permissions>", summary: "without these, with commas between" },
    ],
    examples: ["claude mcp add crucible -- cru mcp", "claude mcp add crucible -- cru mcp --deny Shell,FilesystemWrite"],
    load: () => import("../commands/mcp.ts"),
  },
];
