import type { Command } from "../command.ts";
import { json } from "./options.ts";

export const NOTES: readonly Command[] = [
  {
    name: "notes index",
    summary: "bring the index of the project's notes up to date; a search does it too",
    options: [json],
    examples: ["cru notes index"],
    load: () => import("../commands/notes-index.ts"),
  },
  {
    name: "notes search",
    summary: "find notes by meaning and by words",
    args: [{ name: "QUERY...", summary: "what you look for, in plain words" }],
    options: [{ flags: "--limit <n>", summary: "at most this many notes (10)" }, json],
    examples: ['cru notes search "how do we undo a release"', "cru notes search retry backoff --limit 3 --json | jq -r '.results[].path'"],
    load: () => import("../commands/notes-search.ts"),
  },
];
