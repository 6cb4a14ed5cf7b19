#!/usr/bin/env node
import { readFileSync } from "node:fs";
import type { Io } from "./cli/command.ts";

/** The only place that prints an error and sets the exit code. Everything past `--help` and `--version` is loaded when it is needed. */
const argv = process.argv.slice(2);
void start().then((code) => {
  process.exitCode = code;
});

async function start(): Promise<number> {
  const [first = "--help"] = argv;
  const version = first === "--version" || first === "-V";
  if (version || (argv.length <= 1 && ["--help", "-h", "help"].includes(first))) {
    process.stdout.write(readFileSync(new URL(version ? "version.txt" : "help.txt", import.meta.url), "utf8"));
    return 0;
  }
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The reader of a pipe went away (`cru … | head`): nobody is left to tell.
    if (error.code === "EPIPE") process.exit(0);
  });
  try {
    const shared = { cwd: process.cwd(), env: process.env, io: terminal() };
    const listing = argv[0] === "agents" && argv[1] === "list" && argv.slice(2).every((a) => a === "--json");
    // The most frequent question does without commander and schemas.
    if (listing) return await (await import("./cli/commands/agents-list.ts")).run({ ...shared, args: [], options: { json: argv.includes("--json") } });
    return await (await import("./cli/run.ts")).run(argv, shared);
  } catch (error) {
    return (await import("./cli/report.ts")).report(error, terminal(), argv.includes("--json"));
  }
}

function terminal(): Io {
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    outIsTerminal: process.stdout.isTTY === true,
    errIsTerminal: process.stderr.isTTY === true,
    inIsTerminal: process.stdin.isTTY === true,
    columns: process.stdout.columns ?? 80,
  };
}
