import type { Command } from "./command.ts";

const json = { flags: "--json", summary: "print JSON" } as const;

/** Every command, in the order of `--help`. */
export const COMMANDS: readonly Command[] = [
  {
    name: "agents list",
    summary: "list the agents that can be used here",
    options: [json],
    examples: ["cru agents list", "cru agents list --json | jq '.agents[].name'"],
    load: () => import("./commands/agents-list.ts"),
  },
];
