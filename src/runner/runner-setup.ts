import type { Env } from "../config/paths.ts";
import type { Permission } from "../contract/permission.ts";
import type { AgentIdentity } from "../contract/runner.ts";
import type { Settings } from "../contract/settings-defaults.ts";

/** What every runner of a program outside this process is given. */
export type RunnerSetup = {
  sandbox: Settings["sandbox"];
  /** `permissions.allow`: rights that need not ask. */
  allow: readonly Permission[];
  /** The user's environment: PATH, the login, the model's address. Inside a sandbox nothing of it reaches the agent as it is. */
  env: Env;
  home: string;
  /** A private folder per agent that outlives its processes. */
  stateFolder(agent: AgentIdentity): string;
  /** How often the agent itself tries a failed model call again, where it lets itself be told. */
  maxRetries?: number;
  graceMs?: number;
};
