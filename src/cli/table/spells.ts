import type { Command } from "../command.ts";
import { json } from "./options.ts";

export const SPELLS: readonly Command[] = [
  {
    name: "spells list",
    summary: "list the prompt templates that can be used here",
    options: [json],
    examples: ["cru spells list", "cru spells list --json | jq -r '.spells[].name'"],
    load: () => import("../commands/spells-list.ts"),
  },
  {
    name: "spells show",
    summary: "print the source of a spell",
    args: [{ name: "NAME", summary: "the spell's name" }],
    options: [json],
    examples: ["cru spells show implement", "cru spells show implement > .coven/spells/implement.md"],
    load: () => import("../commands/spells-show.ts"),
  },
  {
    name: "spells render",
    summary: "fill a spell with values and print what an agent would get",
    args: [{ name: "NAME", summary: "the spell's name, or the template itself when it has more than one line" }],
    options: [
      { flags: "--var <name=value>", summary: "a value; again for more; name:=value takes JSON, a.b=value makes a map", repeat: true },
      { flags: "--var-file <path>", summary: "a file with a JSON object of values" },
      json,
    ],
    examples: ["cru spells render implement --var bead.id=app-7 --var bead.title='Add a login page'", "cru spells render implement --var-file bead.json --var round:=2"],
    load: () => import("../commands/spells-render.ts"),
  },
];
