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
];
