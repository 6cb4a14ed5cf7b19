import { existsSync } from "node:fs";
import { loadAgents } from "../catalog/agents.ts";
import { indexPath } from "../catalog/index-file.ts";
import type { LoadDeps, Loaded } from "../catalog/load-definitions.ts";
import { type Env, findPaths, homeFolder, type Paths } from "../config/paths.ts";
import type { Agent } from "../contract/agent.ts";
import type { Entry } from "../contract/catalog.ts";
import { DEFAULT_MODEL } from "../contract/model.ts";
import { shownPath } from "../lib/shown-path.ts";
import { openTrust, type Trust } from "../trust/open-trust.ts";

export type AgentCatalog = { paths: Paths; trust: Trust; agents: Loaded<Agent>; show(path: string): string };

/** The agents as this user sees them from this folder: `items` are those that can be used, `listed` those that would be if everything were trusted. */
export async function openAgentCatalog(input: { cwd: string; env: Env; trust?: boolean | undefined }): Promise<AgentCatalog> {
  const paths = findPaths(input.cwd, input.env);
  const deps = loadDeps(paths, input.env, "agents");
  const trust = openTrust(paths, input.env, { trust: input.trust });
  return { paths, trust, agents: await loadAgents(paths, { ...deps, accept: trust.isTrusted }), show: deps.show };
}

/** The agent of that name that can be used, else the one that nobody trusted; and the one that stands beside it unused. */
export function lookUp({ agents }: Pick<AgentCatalog, "agents">, name: string): { entry: Entry<Agent> | undefined; unused: Entry<Agent> | undefined } {
  const [usable, listed] = [agents.items, agents.listed].map((entries) => entries.find((e) => e.name === name));
  const entry = usable ?? listed;
  return { entry, unused: listed?.path === entry?.path ? undefined : listed };
}

/** What an agent gets that names no model. Settings cost the schema library, so they are read only where there are any. */
export async function defaultModel({ paths, trust }: Pick<AgentCatalog, "paths" | "trust">, env: Env): Promise<string> {
  if (env.CRU_MODEL === undefined && !existsSync(paths.user.config) && !existsSync(paths.project.config)) return DEFAULT_MODEL;
  const { loadSettings } = await import("../config/load-settings.ts");
  try {
    return loadSettings({ paths, env, isTrusted: trust.isTrusted }).settings.model;
  } catch {
    // A bad variable stops what would run something, not a list.
    return DEFAULT_MODEL;
  }
}

/** What `loadDefinitions` needs besides the plan, the same for every kind. */
export function loadDeps(paths: Paths, env: Env, kind: "agents" | "grimoires" | "spells"): LoadDeps {
  const home = homeFolder(env);
  return { indexFile: indexPath(paths.user.cache, paths.root, kind), show: (path) => shownPath(path, { root: paths.root, home }) };
}
