import { agentNotFound } from "../catalog/agents.ts";
import { loadSettings, requireSettings } from "../config/load-settings.ts";
import type { Env } from "../config/paths.ts";
import type { Agent } from "../contract/agent.ts";
import type { Entry } from "../contract/catalog.ts";
import { CruError } from "../contract/error.ts";
import type { Permission } from "../contract/permission.ts";
import { effectiveRights, type Granted, PRIMARY_RIGHTS } from "../permission/effective.ts";
import { type AgentCatalog, lookUp, openAgentCatalog } from "./agent-catalog.ts";

export type ExplainInput = { cwd: string; env: Env; trust: boolean; name: string; parent?: string | undefined; spawn?: readonly Permission[] | undefined };

export type Explained = {
  agent: Entry<Agent>;
  trusted: boolean;
  shown: string;
  /** An agent of the same name that is not used, because nobody trusted it. */
  unused: string | undefined;
  /** Undefined: the default primary. */
  parent: { name: string | undefined; rights: readonly Permission[] };
  deny: readonly Permission[];
  /** The project may deny rights, but nobody has trusted its settings. */
  projectIgnored: boolean;
  rights: Granted;
};

/** What an agent would get, and why, if `parent` (or the user's own primary) started it now. Starts nothing. */
export async function explainRights(input: ExplainInput): Promise<Explained> {
  const catalog = await openAgentCatalog(input);
  const { paths, trust, show } = catalog;
  const loaded = loadSettings({ paths, env: input.env, isTrusted: trust.isTrusted });
  const policy = requireSettings(loaded).permissions;
  const agent = find(catalog, input.name);
  const { unused } = lookUp(catalog, input.name);
  const primary = granted({ parent: PRIMARY_RIGHTS, definition: input.parent === undefined ? "inherit" : find(catalog, input.parent).value.permissions, policy });
  const rights = granted({ parent: primary.granted, definition: agent.value.permissions, spawn: input.spawn, policy });
  return {
    agent,
    trusted: trust.isTrusted(agent.path, agent.hash),
    shown: show(agent.path),
    unused: unused === undefined ? undefined : show(unused.path),
    parent: { name: input.parent, rights: primary.granted },
    deny: policy.deny,
    projectIgnored: loaded.projectIgnored,
    rights,
  };
}

function granted(input: Parameters<typeof effectiveRights>[0]): Granted {
  const result = effectiveRights(input);
  if (result.status === "granted") return result;
  throw new CruError("permission_refused", `the spawn would be refused: ${result.message}`, { hint: "name only rights that both the parent and the definition have" });
}

function find(catalog: AgentCatalog, name: string): Entry<Agent> {
  const { entry } = lookUp(catalog, name);
  if (entry === undefined) throw agentNotFound(name, catalog.agents.listed.map((e) => e.name));
  return entry;
}
