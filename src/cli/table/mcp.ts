import type { Command } from "../command.ts";

export const MCP: readonly Command[] = [
  {
    name: "mcp",
    summary: "serve this project's agents, notes and tools to another program, by the Model Context Protocol on stdin and stdout",
    options: [
      { flags: "--agent <name>", summary: "under the rights and gates of this agent" },
      { flags: "--allow <permissions>", summary: "do not ask for these, with commas between" },
      { flags: "--deny <permissions>", summary: "without these, with commas between" },
    ],
    examples: ["claude mcp add crucible -- cru mcp", "claude mcp add crucible -- cru mcp --deny Shell,FilesystemWrite"],
    load: () => import("../commands/mcp.ts"),
  },
];
