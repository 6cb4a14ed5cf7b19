import type { Command } from "./command.ts";

const json = { flags: "--json", summary: "print JSON" } as const;

/** Every command, in the order of `--help`. */
export const COMMANDS: readonly Command[] = [
  {
    name: "init",
    summary: "set this project up; keeps everything that is there",
    options: [json],
    examples: ["cru init", "cru init --json | jq -r '.items[] | select(.status == \"created\") | .path'"],
    load: () => import("./commands/init.ts"),
  },
  {
    name: "agents list",
    summary: "list the agents that can be used here",
    options: [json],
    examples: ["cru agents list", "cru agents list --json | jq '.agents[].name'"],
    load: () => import("./commands/agents-list.ts"),
  },
  {
    name: "completion",
    summary: "print the completion script of a shell",
    args: [{ name: "SHELL", summary: "bash, zsh or fish", values: ["bash", "zsh", "fish"] }],
    examples: [
      "source <(cru completion bash)                                # now; put it into ~/.bashrc to keep it",
      'cru completion zsh > "${fpath[1]}/_cru"                       # then start a new shell',
      "cru completion fish > ~/.config/fish/completions/cru.fish",
    ],
    load: () => import("./commands/completion.ts"),
  },
];
