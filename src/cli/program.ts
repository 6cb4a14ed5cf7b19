import { Command as Node, CommanderError, Option } from "commander";
import { CruError } from "../contract/error.ts";
import type { Command, Io } from "./command.ts";
import { COMMANDS } from "./table.ts";

const NOUNS: Record<string, string> = {
  agents: "the agents of this project, of yours and of Crucible",
  config: "settings: read, write, explain",
  spells: "prompt templates",
};

type Execute = (command: Command, args: string[], options: Record<string, unknown>) => Promise<void>;

/** The tree that commander parses and that `--help` and completion are printed from. */
export function buildProgram(io: Pick<Io, "out" | "err">, execute: Execute): Node {
  const root = new Node("cru")
    .description("Crucible hands a backlog to AI coding agents and lets you trust what comes back.")
    .version("", "-V, --version", "print the version")
    .option("--trust", "use this project's own definitions and settings for this one command")
    .option("--no-input", "never ask; what would ask exits 4")
    .showHelpAfterError(false)
    .showSuggestionAfterError(true)
    .enablePositionalOptions()
    .addHelpText("after", HELP_AFTER);
  for (const command of COMMANDS) attach(root, command, execute);
  everyNode(root, (node) => {
    node.configureOutput({ writeOut: io.out, writeErr: () => {}, outputError: () => {} });
    node.exitOverride((error) => stop(error, node));
  });
  return root;
}

const HELP_AFTER = `
Examples:
  $ cru init                        set up this project
  $ cru doctor                      check what is here and how to fix what is not
  $ cru agents list                 see who can work
  $ cru agents new api-reviewer     write an agent of your own
  $ cru trust                       look at a clone's own definitions and allow them

Exit codes: 0 ok, 1 failed, 2 usage or not found, 3 invalid definition or setting, 4 a person is needed, 75 locked, 130 interrupted`;

function attach(root: Node, command: Command, execute: Execute): void {
  const words = command.name.split(" ");
  let parent = root;
  for (const word of words.slice(0, -1)) {
    parent = parent.commands.find((c) => c.name() === word) ?? parent.command(word).description(NOUNS[word] ?? "");
  }
  const node = parent.command(words.at(-1) ?? "").description(command.summary);
  for (const arg of command.args ?? []) node.argument(arg.name.startsWith("[") ? arg.name : `<${arg.name}>`, arg.summary);
  for (const option of command.options ?? []) node.addOption(new Option(option.flags, option.summary));
  if (command.examples !== undefined) node.addHelpText("after", `\nExamples:\n${command.examples.map((e) => `  $ ${e}`).join("\n")}`);
  node.action(async (...all: unknown[]) => {
    const args = all.slice(0, -2).flat().filter((a): a is string => typeof a === "string");
    await execute(command, args, node.optsWithGlobals());
  });
}

function everyNode(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const child of node.commands) everyNode(child, visit);
}

/** Commander's own ends: help is success, everything else is a usage error in our words. */
function stop(error: CommanderError, node: Node): never {
  if (error.code === "commander.helpDisplayed" || error.code === "commander.version") throw new HelpShown();
  if (error.code === "commander.help") {
    throw new CruError("usage", `${path(node)} needs a command`, { hint: `one of: ${node.commands.map((c) => c.name()).join(", ")}` });
  }
  const [first = "", ...rest] = error.message.replace(/^error: /, "").split("\n");
  const suggestion = rest.join(" ").replace(/[()]/g, "").trim();
  throw new CruError("usage", first, { hint: suggestion === "" ? `see \`${path(node)} --help\`` : suggestion });
}

export class HelpShown extends Error {}

function path(node: Node): string {
  return node.parent === null ? node.name() : `${path(node.parent)} ${node.name()}`;
}
