#!/usr/bin/env node
import { readFileSync } from "node:fs";
import type { Io } from "./cli/command.ts";
import { isTerminal, write } from "./lib/output.ts";

/**
 * The only place that prints an error and sets the exit code. This file is built as CommonJS, which starts a quarter faster,
 * with `agents list` inside; everything else is loaded when it is needed.
 */
const argv = process.argv.slice(2);
void start().then(
  (code) => {
    process.exitCode = code;
  },
  // Not even the error could be written.
  () => {
    process.exitCode = 1;
  },
);

async function start(): Promise<number> {
  const [first = "--help"] = argv;
  const version = ["--version", "-V", "-v"].includes(first) || (first === "version" && argv.length === 1);
  const io = terminal();
  try {
    if (version || (argv.length <= 1 && ["--help", "-h", "help"].includes(first))) {
      write("stdout", readFileSync(`${import.meta.dirname}/${version ? "version.txt" : "help.txt"}`, "utf8"));
      return 0;
    }
    const shared = { cwd: process.cwd(), env: process.env, io };
    return (await listAgents(shared)) ?? (await (await import("./cli/run.ts")).run(argv, shared));
  } catch (error) {
    return (await import("./cli/report.ts")).report(error, io, argv.includes("--json"));
  }
}

/** The most frequent question does without commander and schemas. Undefined: it is another question, or one that the long way answers better. */
async function listAgents(shared: { cwd: string; env: NodeJS.ProcessEnv; io: Io }): Promise<number | undefined> {
  if (argv[0] !== "agents" || argv[1] !== "list" || argv.slice(2).some((a) => a !== "--json")) return undefined;
  try {
    return await (await import("./cli/commands/agents-list.ts")).run({ ...shared, args: [], options: { json: argv.includes("--json") } });
  } catch {
    return undefined;
  }
}

function terminal(): Io {
  return {
    out: (text) => write("stdout", text),
    err: (text) => write("stderr", text),
    get outIsTerminal() {
      return isTerminal(1);
    },
    get errIsTerminal() {
      return isTerminal(2);
    },
    get inIsTerminal() {
      return isTerminal(0);
    },
    get columns() {
      return (isTerminal(1) ? process.stdout.columns : undefined) ?? 80;
    },
  };
}
