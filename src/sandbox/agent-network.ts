import type { Permission } from "../contract/permission.ts";
import { refusalText } from "./admit-host.ts";
import type { SandboxNetwork } from "./spec.ts";

export type NetworkRights = { permissions: readonly Permission[]; requiresApproval: readonly string[] };

/**
 * What an agent's programs reach of `sandbox.hosts`: nothing without NetworkAccess, and nothing where each use of the network must be
 * approved, because what goes through a proxy cannot be asked about. `tell` hears once of each host that is not open.
 */
export function agentNetwork(agent: NetworkRights, hosts: readonly string[], tell: (message: string) => void): SandboxNetwork | undefined {
  if (hosts.length === 0 || !agent.permissions.includes("NetworkAccess") || agent.requiresApproval.includes("NetworkAccess")) return undefined;
  const told = new Set<string>();
  return {
    hosts,
    onRefused(refusal) {
      if (told.has(refusal.host)) return;
      told.add(refusal.host);
      tell(refusalText(refusal, "the agent", hosts));
    },
  };
}
