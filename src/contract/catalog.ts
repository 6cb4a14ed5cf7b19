import type { AgentSource } from "./agent.ts";
import type { Problem } from "./problem.ts";

/** One definition that a user (or we) wrote, whatever its kind. */
export type Entry<T> = {
  name: string;
  value: T;
  source: AgentSource;
  /** Absolute path of the file. */
  path: string;
  /** Sha-256 (hex) over the file's bytes: trust and the pin at spawn are bound to it. */
  hash: string;
};

/** What a loader found. `items` has one entry per name, the winner by precedence, sorted by name; disabled ones are in it. */
export type Catalog<T> = { items: Entry<T>[]; problems: Problem[] };
