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
    name: "doctor",
    summary: "check this machine and this project, and say how to fix what is missing",
    options: [json],
    examples: ["cru doctor", "cru doctor --json | jq '.checks[] | select(.status != \"ok\")'"],
    load: () => import("./commands/doctor.ts"),
  },
  {
    name: "agents list",
    summary: "list the agents that can be used here",
    options: [json],
    examples: ["cru agents list", "cru agents list --json | jq '.agents[].name'"],
    load: () => import("./commands/agents-list.ts"),
  },
  {
    name: "agents show",
    summary: "print everything about one agent, with its prompt",
    args: [{ name: "NAME", summary: "the agent's name", values: "agents" }],
    options: [json],
    examples: ["cru agents show code-reviewer", "cru agents show code-reviewer --json | jq -r .agent.prompt"],
    load: () => import("./commands/agents-show.ts"),
  },
  {
    name: "agents validate",
    summary: "check the agents of this project and yours; exit 3 when one is broken",
    args: [{ name: "[NAME]", summary: "only this one, by its name or its file's", values: "agents" }],
    options: [json],
    examples: ["cru agents validate", "cru agents validate code-reviewer", "cru agents validate --json | jq '.problems[]'"],
    load: () => import("./commands/agents-validate.ts"),
  },
  {
    name: "agents new",
    summary: "write an agent to start from",
    args: [{ name: "NAME", summary: "lower-case letters, digits, dot, dash, underscore" }],
    options: [
      { flags: "--description <text>", summary: "when to use it" },
      { flags: "--model <model>", summary: "haiku, sonnet, opus or a full model id" },
      { flags: "--permissions <list>", summary: "what it may do, with commas between" },
      { flags: "--system", summary: "for all your projects instead of this one" },
      json,
    ],
    examples: [
      "cru agents new api-reviewer",
      'cru agents new migrator --description "Writes database migrations" --model opus --permissions FilesystemWrite,DatabaseRead',
      "cru agents new my-style --system",
    ],
    load: () => import("./commands/agents-new.ts"),
  },
  {
    name: "agents explain",
    summary: "say which rights an agent gets, and why",
    args: [{ name: "NAME", summary: "the agent's name", values: "agents" }],
    options: [
      { flags: "--parent <name>", summary: "the agent that starts it; without it, you or the primary of a chat" },
      { flags: "--allow <list>", summary: "the rights that the spawn names, with commas between" },
      json,
    ],
    examples: ["cru agents explain implementer", "cru agents explain implementer --parent explore", "cru agents explain implementer --allow FilesystemWrite"],
    load: () => import("./commands/agents-explain.ts"),
  },
  {
    name: "trust",
    summary: "look at what this project brings along, and allow it to be used",
    options: [
      { flags: "--yes", summary: "trust exactly what is shown, without asking" },
      { flags: "--revoke", summary: "forget that anything here was trusted" },
      json,
    ],
    examples: ["cru trust", "cru trust --yes", "cru trust --json | jq -r '.files[] | select(.status != \"trusted\") | .path'"],
    load: () => import("./commands/trust.ts"),
  },
  {
    name: "config get",
    summary: "print a setting as it holds here, or all of them",
    args: [{ name: "[KEY]", summary: "dotted, such as limits.budget_usd" }],
    options: [json],
    examples: ["cru config get", "cru config get limits.budget_usd"],
    load: () => import("./commands/config-get.ts"),
  },
  {
    name: "config set",
    summary: "write a setting into your own config.yaml, comments kept",
    args: [{ name: "KEY", summary: "dotted, such as limits.budget_usd" }, { name: "VALUE", summary: "such as 5, 2h, null, a,b or [a, b]" }],
    options: [{ flags: "--project", summary: "write it into this project's file" }, json],
    examples: ["cru config set model opus", "cru config set permissions.deny Shell,NetworkAccess --project"],
    load: () => import("./commands/config-set.ts"),
  },
  {
    name: "config explain",
    summary: "say which file, variable or default a setting comes from",
    args: [{ name: "KEY", summary: "dotted, or a whole section such as limits" }],
    options: [json],
    examples: ["cru config explain model", "cru config explain sandbox"],
    load: () => import("./commands/config-explain.ts"),
  },
  {
    name: "config schema",
    summary: "print a JSON Schema, for editors and other programs",
    args: [{ name: "KIND", summary: "agent, grimoire, config or event", values: ["agent", "grimoire", "config", "event"] }],
    options: [json],
    examples: ["cru config schema agent > agent.schema.json"],
    load: () => import("./commands/config-schema.ts"),
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
