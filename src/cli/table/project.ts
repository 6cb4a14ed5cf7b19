import type { Command } from "../command.ts";
import { json } from "./options.ts";

export const PROJECT: readonly Command[] = [
  {
    name: "init",
    summary: "set this project up; keeps everything that is there",
    options: [json],
    examples: ["cru init", "cru init --json | jq -r '.items[] | select(.status == \"created\") | .path'"],
    load: () => import("../commands/init.ts"),
  },
  {
    name: "doctor",
    summary: "check this machine and this project, and say how to fix what is missing",
    options: [{ flags: "--fix", summary: "clear away worktrees that are done with, and mend what was left half done; work is never removed" }, json],
    examples: ["cru doctor", "cru doctor --fix", "cru doctor --json | jq '.checks[] | select(.status != \"ok\")'"],
    load: () => import("../commands/doctor.ts"),
  },
  {
    name: "demo",
    summary: "see it work on a throw-away repository, with a scripted model",
    options: [{ flags: "--keep", summary: "keep the repository to look around in" }],
    examples: ["cru demo", "cru demo --keep"],
    load: () => import("../commands/demo.ts"),
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
    load: () => import("../commands/trust.ts"),
  },
];
