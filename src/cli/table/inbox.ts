import type { Command } from "../command.ts";
import { json } from "./options.ts";

/** For answers that nobody waits for. */
const goOn = [
  { flags: "--resume", summary: "go on with the session at once, when nobody waits for the answer" },
  { flags: "--wait", summary: "with --resume: wait for further answers instead of ending" },
] as const;

export const INBOX: readonly Command[] = [
  {
    name: "inbox list",
    summary: "list what waits for a person",
    options: [json, { flags: "--pending", summary: "leave out what is closed" }, { flags: "--all", summary: "show everything that was ever closed" }],
    examples: ["cru inbox list", "cru inbox list --json | jq -r '.items[] | select(.status == \"pending\").id'"],
    load: () => import("../commands/inbox-list.ts"),
  },
  {
    name: "inbox show",
    summary: "print one question with everything that belongs to it",
    args: [{ name: "ID", summary: "question, or the start of its id" }],
    options: [json],
    examples: ["cru inbox show 3f", "cru inbox show 3f --json | jq .item.action"],
    load: () => import("../commands/inbox-show.ts"),
  },
  {
    name: "inbox approve",
    summary: "allow what an agent wants to do",
    args: [{ name: "ID", summary: "question, or the start of its id" }],
    options: [
      json,
      { flags: "--set <name=value>", summary: "change a parameter of the action; again for more", repeat: true },
      { flags: "--confirm <WORD>", summary: "the word that is needed for what cannot be undone" },
      { flags: "--session", summary: "allow this agent every such call until the session ends" },
      ...goOn,
    ],
    examples: ["cru inbox approve 3f --resume", "cru inbox approve 3f --set timeout_s=60", "cru inbox approve 3f --confirm database_execute"],
    load: () => import("../commands/inbox-approve.ts"),
  },
  {
    name: "inbox deny",
    summary: "refuse it; the agent is told why",
    args: [{ name: "ID", summary: "question, or the start of its id" }],
    options: [json, { flags: "--reason <TEXT>", summary: "what the agent is told" }, ...goOn],
    examples: ['cru inbox deny 3f --reason "use the staging database"'],
    load: () => import("../commands/inbox-deny.ts"),
  },
  {
    name: "inbox answer",
    summary: "answer an agent's question",
    args: [{ name: "ID", summary: "question, or the start of its id" }, { name: "TEXT...", summary: "the answer; a number picks one of the options" }],
    options: [json, { flags: "--confirm <WORD>", summary: "with Allow or Allow All for what cannot be undone: its word" }, ...goOn],
    examples: ['cru inbox answer 3f "keep the old name"', 'cru inbox answer 3f "Allow All" --confirm Bash'],
    load: () => import("../commands/inbox-answer.ts"),
  },
  {
    name: "inbox ask",
    summary: "ask the agent something before you decide; the item stays open",
    args: [{ name: "ID", summary: "question, or the start of its id" }, { name: "TEXT...", summary: "what you want to know" }],
    options: [json],
    examples: ['cru inbox ask 3f "who else uses that table?"'],
    load: () => import("../commands/inbox-ask.ts"),
  },
  {
    name: "inbox revoke",
    summary: "take back what was allowed for a session",
    args: [{ name: "ID", summary: "the approval, or the start of its id" }],
    options: [json],
    examples: ["cru inbox revoke 3f"],
    load: () => import("../commands/inbox-revoke.ts"),
  },
];
