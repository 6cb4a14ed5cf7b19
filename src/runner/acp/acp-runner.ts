import type { Env } from "../../config/paths.ts";
import type { Permission } from "../../contract/permission.ts";
import type { AgentIdentity, Runner } from "../../contract/runner.ts";
import type { Settings } from "../../contract/settings-defaults.ts";

export type AcpSetup = {
  acp: Settings["acp"];
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

/** Any agent that speaks the Agent Client Protocol, as a supervised process in a sandbox. The protocol's library is loaded with the first run. */
export function createAcpRunner(setup: AcpSetup): Runner {
  return { name: "acp", run: async (request, deps) => (await import("./run-acp.ts")).runAcp(request, deps, setup) };
}
