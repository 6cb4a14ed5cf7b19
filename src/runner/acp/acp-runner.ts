import type { Runner } from "../../contract/runner.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import type { RunnerSetup } from "../runner-setup.ts";

export type AcpSetup = RunnerSetup & { acp: Settings["acp"] };

/** Any agent that speaks the Agent Client Protocol, as a supervised process in a sandbox. The protocol's library is loaded with the first run. */
export function createAcpRunner(setup: AcpSetup): Runner {
  return { name: "acp", run: async (request, deps) => (await import("./run-acp.ts")).runAcp(request, deps, setup) };
}
