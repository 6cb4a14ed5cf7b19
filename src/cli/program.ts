import { Command as Node, CommanderError, Option } from "commander";
import { CruError } from "../contract/error.ts";
import { nearest } from "../lib/nearest.ts";
import type { Command, Io } from "./command.ts";
import { COMMANDS } from "./table.ts";

const NOUNS: Record<string, string> = {
  agents: "who can work here",
  beads: "tasks",
  config: "settings",
  familiars: "agents at work on beads",
  inbox: "what waits for a person",
  notes: "the project's markdown files",
  sessions: "what agents did",
  spells: "prompt templates",
};

/** They may stand before or after the command. */
export const GLOBAL_OPTIONS = [
  { flags: "--trust", summary: "use this project's own definitions and settings for this one command" },
  { flags: "--no-input", summary: "never ask; what would ask ends with exit code 4" },
] as const;

type Execute = (command: Command, args: string[], options: Record<string, unknown>) => Promise<void>;

/** The tree that commander parses and that `--help` is printed from. */
export function buildProgram(io: Pick<Io, "out" | "err">, execute: Execute): Node {
  const root = new Node("cru")
    .description("Crucible hands a backlog to AI coding agents and lets you trust what comes back.")
    .option("-V, --version", "print the version")
    .enablePositionalOptions()
    .addHelpText("after", HELP_AFTER);
  for (const option of GLOBAL_OPTIONS) root.addOption(new Option(option.flags, option.summary));
  for (const command of COMMANDS) attach(root, command, execute);
  everyNode(root, (node) => {
    node.showHelpAfterError(false).showSuggestionAfterError(true).helpOption("-h, --help", "show this help");
    if (node.commands.length > 0) node.helpCommand("help [command]", "the same as `--help` after the command");
    node.configureHelp({ subcommandTerm: (sub) => (sub.commands.length > 0 ? sub.name() : term(sub)) });
    node.configureOutput({ writeOut: io.out, writeErr: () => {}, outputError: () => {} });
    node.exitOverride((error) => stop(error, node));
  });
  for (const noun of root.commands) {
    const words = noun.commands.map((c) => c.name()).join(", ");
    if (words !== "") noun.summary(`${noun.description()}: ${words}`);
  }
  return root;
}

const HELP_AFTER = `
First steps:
  $ cru demo                               see it work, without a key
  $ cru init                               set this project up
  $ cru doctor                             see what works here, and how to fix what does not
  $ cru chat                               talk with an agent that plans and delegates
  $ cru task "mend the failing test"       let one work alone, on a branch of its own
  $ cru inbox list                         see what waits for you
  $ cru agents new api-reviewer            write an agent of your own
  $ cru trust                              in a fresh clone: look at its definitions, then allow them

\`cru COMMAND --help\` shows options and examples of a command.
Exit codes: 0 ok · 1 failed · 2 usage or not found · 3 invalid definition or setting · 4 a person is needed · 75 locked · 130 interrupted`;

function attach(root: Node, command: Command, execute: Execute): void {
  const words = command.name.split(" ");
  let parent = root;
  for (const word of words.slice(0, -1)) {
    parent = parent.commands.find((c) => c.name() === word) ?? parent.command(word).description(NOUNS[word] ?? "");
  }
  const node = parent.command(words.at(-1) ?? "").description(command.summary);
  for (const arg of command.args ?? []) node.argument(arg.name.startsWith("[") ? arg.name : `<${arg.name}>`, arg.summary);
  for (const option of command.options ?? []) {
    const parsed = new Option(option.flags, option.summary);
    node.addOption(option.repeat === true ? parsed.argParser((value, before: string[] = []) => [...before, value]) : parsed);
  }
  for (const option of GLOBAL_OPTIONS) node.addOption(new Option(option.flags, option.summary).helpGroup("Global options:"));
  if (command.examples !== undefined) node.addHelpText("after", `\nExamples:\n${command.examples.map((e) => `  $ ${e}`).join("\n")}`);
  node.action(async (...all: unknown[]) => {
    const args = all.slice(0, -2).flat().filter((a): a is string => typeof a === "string");
    const [own, global] = [node.opts(), root.opts()];
    const trust = own.trust === true || global.trust === true;
    await execute(command, args, { ...own, ...(trust ? { trust } : {}), input: own.input !== false && global.input !== false });
  });
}

function everyNode(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const child of node.commands) everyNode(child, visit);
}

/** `show NAME`, `list`: what must be typed, without `[options]`. */
function term(node: Node): string {
  return [node.name(), ...node.registeredArguments.map((a) => (a.required ? a.name() : `[${a.name()}${a.variadic ? "..." : ""}]`))].join(" ");
}

/** Commander's own ends: help is success, everything else is a usage error in our words. */
function stop(error: CommanderError, node: Node): never {
  if (error.code === "commander.helpDisplayed" || (error.code === "commander.help" && error.exitCode === 0)) throw new HelpShown();
  if (error.code === "commander.help") {
    throw new CruError("usage", `\`${path(node)}\` needs a command`, { hint: `one of: ${node.commands.map((c) => c.name()).join(", ")}` });
  }
  if (error.code === "commander.unknownCommand") throw unknownCommand(/'(.*)'/s.exec(error.message)?.[1] ?? "", node);
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = /Did you mean (.*)\?/.exec(rest.join(" "))?.[1];
  throw new CruError("usage", node.parent === null ? first : `${path(node).replace(/^cru /, "")}: ${first}`, {
    hint: suggestion === undefined ? `see \`${path(node)} --help\`` : `did you mean ${suggestion.replace(/^one of /, "")}?`,
  });
}

function unknownCommand(word: string, node: Node): CruError {
  const near = nearest(word, node.commands.map((c) => c.name()));
  // `cru list` and `cru validate` leave out the noun.
  const elsewhere = COMMANDS.map((c) => c.name).filter((name) => name.split(" ").at(-1) === word);
  const meant = near === undefined ? elsewhere.map((name) => `\`cru ${name}\``) : [`\`${path(node)} ${near}\``];
  const hint = meant.length > 0 ? `did you mean ${meant.join(" or ")}?` : `see \`${path(node)} --help\``;
  return new CruError("usage", `\`${path(node)}\` has no command '${word}'`, { hint });
}

export class HelpShown extends Error {}

function path(node: Node): string {
  return node.parent === null ? node.name() : `${path(node.parent)} ${node.name()}`;
}
