import type { Command } from "../command.ts";
import { json } from "./options.ts";

const beadId = { name: "ID", summary: "the bead" } as const;
const beadOptions = [
  { flags: "--type <type>", summary: "bug, feature, task, epic or chore" },
  { flags: "--priority <n>", summary: "0 (highest) to 4; 2 when nothing is said" },
  { flags: "--description <text>", summary: "what is to be done, and why" },
  { flags: "--acceptance <text>", summary: "what must hold when it is done" },
  { flags: "--design <text>", summary: "how it should be built" },
  { flags: "--notes <text>", summary: "what is worth knowing" },
  { flags: "--assignee <name>", summary: "who works on it" },
  { flags: "--label <label>", summary: "a label; again for more", repeat: true },
] as const;

export const BEADS: readonly Command[] = [
  {
    name: "beads list",
    summary: "list the tasks of this project",
    options: [
      { flags: "--status <list>", summary: "only these: open, in_progress, blocked, deferred, closed" },
      { flags: "--label <label>", summary: "only with this label; again for more", repeat: true },
      json,
    ],
    examples: ["cru beads list", "cru beads list --status open,in_progress", "cru beads list --json | jq -r '.beads[] | select(.priority == 0).id'"],
    load: () => import("../commands/beads-list.ts"),
  },
  {
    name: "beads show",
    summary: "print everything about one task",
    args: [beadId],
    options: [json],
    examples: ["cru beads show app-7f3k", "cru beads show app-7f3k --json | jq -r .bead.acceptance_criteria"],
    load: () => import("../commands/beads-show.ts"),
  },
  {
    name: "beads create",
    summary: "write a task down; prints its id",
    args: [{ name: "TITLE...", summary: "what is to be done, in one line" }],
    options: [...beadOptions, json],
    examples: ['cru beads create "Add a login page"', 'cru beads create "Empty names crash the export" --type bug --priority 1 --acceptance "an empty name is exported as -"'],
    load: () => import("../commands/beads-create.ts"),
  },
  {
    name: "beads update",
    summary: "change a task",
    args: [beadId],
    options: [
      { flags: "--title <text>", summary: "what is to be done, in one line" },
      { flags: "--status <status>", summary: "open, in_progress, blocked, deferred or closed" },
      ...beadOptions,
      { flags: "--remove-label <label>", summary: "take a label away; again for more", repeat: true },
      json,
    ],
    examples: ["cru beads update app-7f3k --status in_progress", "cru beads update app-7f3k --priority 0 --label urgent --remove-label later"],
    load: () => import("../commands/beads-update.ts"),
  },
  {
    name: "beads close",
    summary: "say that a task is done, or will not be done",
    args: [beadId],
    options: [{ flags: "--reason <text>", summary: "why it is closed" }, json],
    examples: ["cru beads close app-7f3k", 'cru beads close app-7f3k --reason "the page is gone"'],
    load: () => import("../commands/beads-close.ts"),
  },
];
