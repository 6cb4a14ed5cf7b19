import type { Command } from "../command.ts";
import { COMMANDS } from "../table.ts";
import { GLOBAL_OPTIONS } from "../program.ts";

export type Offer = { word: string; summary: string };

/** What can follow `path` ("", "agents", "agents show"): further words, options, and names that are only known when asked. */
export type Place = { path: string; words: Offer[]; options: Offer[]; agents: boolean };

const HELP: Offer = { word: "--help", summary: "show help" };

/** The command table as completion sees it: one place per word that can be typed. */
export function places(commands: readonly Command[] = COMMANDS): Place[] {
  const found = new Map<string, Place>();
  const at = (path: string): Place => {
    const place = found.get(path) ?? { path, words: [], options: [HELP], agents: false };
    found.set(path, place);
    return place;
  };
  at("").options.push({ word: "--version", summary: "print the version" }, ...offers(GLOBAL_OPTIONS));
  for (const command of commands) {
    const words = command.name.split(" ");
    words.forEach((word, depth) => {
      const parent = at(words.slice(0, depth).join(" "));
      const isLast = depth === words.length - 1;
      if (!parent.words.some((w) => w.word === word)) parent.words.push({ word, summary: isLast ? command.summary : `${word} …` });
    });
    const leaf = at(command.name);
    leaf.options.push(...offers(command.options ?? []), ...offers(GLOBAL_OPTIONS));
    for (const { values = [] } of command.args ?? []) {
      if (values === "agents") leaf.agents = true;
      else leaf.words.push(...values.map((word) => ({ word, summary: "" })));
    }
  }
  return [...found.values()];
}

function offers(options: readonly { flags: string; summary: string }[]): Offer[] {
  return options.map(({ flags, summary }) => ({ word: /--[a-z-]+/.exec(flags)?.[0] ?? flags, summary }));
}
