import type { Command } from "../command.ts";
import { json } from "./options.ts";

export const AGENTS: readonly Command[] = [
  {
    name: "agents list",
    summary: "list the agents that can be used here",
    options: [json],
    examples: ["cru agents list", "cru agents list --json | jq '.agents[].name'"],
    load: () => import("../commands/agents-list.ts"),
  },
  {
    name: "agents show",
    summary: "print everything about one agent, with its prompt",
    args: [{ name: "NAME", summary: "the agent's name", values: "agents" }],
    options: [json],
    examples: ["cru agents show code-reviewer", "cru agents show code-reviewer --json | jq -r .agent.prompt"],
    load: () => import("../commands/agents-show.ts"),
  },
  {
    name: "agents validate",
    summary: "check the agents of this project and yours; exit 3 when one is broken",
    args: [{ name: "[NAME]", summary: "only this one, by its name or its file's", values: "agents" }],
    options: [json],
    examples: ["cru agents validate", "cru agents validate code-reviewer", "cru agents validate --json | jq '.problems[]'"],
    load: () => import("../commands/agents-validate.ts"),
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
    load: () => import("../commands/agents-new.ts"),
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
    load: () => import("../commands/agents-explain.ts"),
  },
];
