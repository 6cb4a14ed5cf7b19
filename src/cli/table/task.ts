import type { Command } from "../command.ts";
import { json } from "./options.ts";

export const TASK: readonly Command[] = [
  {
    name: "task",
    summary: "have one task done by an agent, in a worktree and on a branch of its own",
    args: [{ name: "[TEXT...]", summary: "what is to be done; the first line is the title" }],
    options: [
      { flags: "--bead <id>", summary: "work on this bead instead of making one" },
      { flags: "--accept <text>", summary: "what must hold when it is done" },
      { flags: "--in-place", summary: "work in your own checkout; asks first" },
      { flags: "--runner <runner>", summary: "auto, claude, acp or model" },
      { flags: "--agent <name>", summary: "who does it (implementer)" },
      { flags: "--model <model>", summary: "haiku, sonnet, opus or a full model id" },
      { flags: "--budget <usd>", summary: "most that it may cost" },
      { flags: "--wait", summary: "wait for answers instead of ending with exit code 4" },
      { flags: "--resume <session>", summary: "go on with a task that waits, was stopped or was cut short" },
      json,
    ],
    examples: [
      'cru task "make the failing test in test/parse pass" --accept "npm test is green"',
      "cru task --bead app-7f3k --budget 2",
      "cru task --resume 2026-11-16-make-the-failing",
      "cru task --bead app-7f3k --json | jq -r '.changed_files[].path'",
    ],
    load: () => import("../commands/task.ts"),
  },
  {
    name: "familiars list",
    summary: "list the agents that work on beads now",
    options: [{ flags: "--all", summary: "those that have ended too" }, json],
    examples: ["cru familiars list", "cru familiars list --all --json | jq -r '.familiars[] | select(.status == \"blocked\").bead_id'"],
    load: () => import("../commands/familiars-list.ts"),
  },
  {
    name: "familiars output",
    summary: "print what an agent did on a bead",
    args: [{ name: "BEAD", summary: "the bead, or the session" }],
    options: [{ flags: "-f, --follow", summary: "and what it does from now on, until it ends" }, { flags: "--json", summary: "print the events, one a line" }],
    examples: ["cru familiars output app-7f3k", "cru familiars output app-7f3k -f"],
    load: () => import("../commands/familiars-output.ts"),
  },
  {
    name: "familiars stop",
    summary: "stop the agent on a bead; what it did is kept on its branch",
    args: [{ name: "BEAD", summary: "the bead" }],
    options: [json],
    examples: ["cru familiars stop app-7f3k"],
    load: () => import("../commands/familiars-stop.ts"),
  },
];
