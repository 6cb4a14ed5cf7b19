import { type Permission, PERMISSIONS } from "../../contract/permission.ts";
import type { McpServer } from "../../contract/settings.ts";
import type { Settings } from "../../contract/settings-defaults.ts";

/** What an agent must hold to have the server's tools: what it names, else everything. */
export function rightsOf(server: McpServer): readonly Permission[] {
  const named = new Set<Permission>(server.permissions ?? PERMISSIONS);
  if (server.url !== undefined) named.add("NetworkAccess");
  return PERMISSIONS.filter((permission) => named.has(permission));
}

/** Why an agent with these rights does not get the server; undefined when it does. */
export function refusal(server: McpServer, needs: readonly Permission[], agent: { permissions?: readonly Permission[]; mode: Settings["sandbox"]["mode"] }): string | undefined {
  if ((server.command === undefined) === (server.url === undefined)) return "it must have either a command or a url";
  const lacking = needs.filter((permission) => agent.permissions !== undefined && !agent.permissions.includes(permission));
  if (lacking.length > 0) return `the agent lacks ${lacking.join(", ")}`;
  if (server.url === undefined && agent.mode === "required" && server.permissions?.includes("NetworkAccess") === true && (server.hosts ?? []).length === 0) {
    return "its permissions include NetworkAccess, but it names no hosts, so that the sandbox has no network; name them, take the right out, or use a url";
  }
  return undefined;
}
