import type { Env } from "../config/paths.ts";

/** Where a command reads and writes. Data goes to `out`, progress and warnings to `err`. */
export type Io = {
  out(text: string): void;
  err(text: string): void;
  outIsTerminal: boolean;
  errIsTerminal: boolean;
  inIsTerminal: boolean;
  columns: number;
};

export type CommandInput = {
  args: string[];
  /** Long option names in camel case, as the parser gives them. */
  options: Record<string, unknown>;
  cwd: string;
  env: Env;
  io: Io;
};

/** Resolves to the exit code. A user's mistake is a thrown `CruError`; only `main.ts` prints it. */
export type Run = (input: CommandInput) => Promise<number>;

/** A command is data; the code behind it is loaded only when it runs. */
export type Command = {
  /** Words after `cru`, e.g. "agents list". */
  name: string;
  summary: string;
  /** `NAME` required, `[NAME]` optional, `[NAME...]` the rest. */
  args?: readonly { name: string; summary: string; /** What completion offers. */ values?: readonly string[] | "agents" }[];
  options?: readonly { flags: string; summary: string; /** May be given again; its value is a list. */ repeat?: boolean }[];
  examples?: readonly string[];
  load(): Promise<{ run: Run }>;
};
