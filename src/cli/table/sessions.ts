import type { Command } from "../command.ts";
import { json } from "./options.ts";

export const SESSIONS: readonly Command[] = [
  {
    name: "sessions list",
    summary: "list what agents did, newest first",
    options: [json, { flags: "--limit <N>", summary: "show the newest N instead of 50" }, { flags: "--all", summary: "show every session" }],
    examples: ["cru sessions list", "cru sessions list --json | jq '.sessions[] | select(.status == \"interrupted\").id'"],
    load: () => import("../commands/sessions-list.ts"),
  },
  {
    name: "sessions show",
    summary: "print one session: the conversation and its files",
    args: [{ name: "ID", summary: "session, or the start of its name" }],
    options: [json],
    examples: ["cru sessions show 2026-11-16-find", "cru sessions show 2026-11-16-find --json | jq -r '.files[].name'"],
    load: () => import("../commands/sessions-show.ts"),
  },
  {
    name: "sessions trace",
    summary: "show which agent started which, with times, tokens and errors",
    args: [{ name: "ID", summary: "session, or the start of its name" }],
    options: [json],
    examples: ["cru sessions trace 2026-11-16-find", "cru sessions trace 2026-11-16-find --json | jq '.root.children[].error'"],
    load: () => import("../commands/sessions-trace.ts"),
  },
  {
    name: "sessions replay",
    summary: "run a session again from its recording, offline, and find what is different now",
    args: [{ name: "ID", summary: "session, or the start of its name" }],
    options: [json],
    examples: ["cru sessions replay 2026-11-16-find", "cru sessions replay 2026-11-16-find --json | jq .divergence"],
    load: () => import("../commands/sessions-replay.ts"),
  },
];
