import type { Command } from "../command.ts";
import { json } from "./options.ts";

export const CHAT: readonly Command[] = [
  {
    name: "chat",
    summary: "ask a primary agent that plans, acts, observes and reflects",
    args: [{ name: "[MESSAGE...]", summary: "what you want; on a terminal you can go on from there" }],
    options: [
      { flags: "-p, --print", summary: "answer and exit (the default without a terminal)" },
      { flags: "--plain", summary: "converse line by line, without moving the cursor" },
      { flags: "--agent <name>", summary: "talk with this agent instead of the default primary" },
      { flags: "--model <model>", summary: "haiku, sonnet, opus or a full model id" },
      { flags: "--runner <runner>", summary: "auto, model, claude or acp: who the primary agent is" },
      { flags: "--allow <list>", summary: "permissions that do not ask, separated by commas" },
      { flags: "--deny <list>", summary: "permissions that nobody gets" },
      { flags: "--max-iterations <n>", summary: "model replies with tool calls before it stops with a report" },
      { flags: "--budget <usd>", summary: "most that the session may cost, with all its agents" },
      { flags: "--wait", summary: "wait for answers instead of ending with exit code 4" },
      { flags: "--resume <id>", summary: "go on with a session that waits or was cut short" },
      { flags: "-c, --continue", summary: "go on with the newest conversation of this project" },
      { flags: "--verbose", summary: "show every step and include them in the answer" },
      json,
    ],
    examples: [
      "cru chat",
      'cru chat -p "what does this project do?"',
      'cru chat -p "rename parseConfig to readConfig everywhere and run the tests" --budget 2',
      "cru chat --continue",
      "cru chat --resume 2026-11-16-rename-parseconfig",
      'git diff | cru chat -p "review this"',
    ],
    load: () => import("../commands/chat.ts"),
  },
];
