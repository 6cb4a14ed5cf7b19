import { loadAgents } from "../catalog/agents.ts";
import { indexPath } from "../catalog/index-file.ts";
import type { LoadDeps, Loaded } from "../catalog/load-definitions.ts";
import { type Env, findPaths, homeFolder, type Paths } from "../config/paths.ts";
import type { Agent } from "../contract/agent.ts";
import { shownPath } from "../lib/shown-path.ts";
import { openTrust, type Trust } from "../trust/open-trust.ts";

export type AgentCatalog = { paths: Paths; trust: Trust; agents: Loaded<Agent>; show(path: string): string };

/** The agents as this user sees them from this folder. */
export async function openAgentCatalog(input: { cwd: string; env: Env; trust?: boolean | undefined }): Promise<AgentCatalog> {
  const paths = findPaths(input.cwd, input.env);
  const deps = loadDeps(paths, input.env, "agents");
  return { paths, trust: openTrust(paths, input.env, { trust: input.trust }), agents: await loadAgents(paths, deps), show: deps.show };
}

/** What `loadDefinitions` needs besides the plan, the same for every kind. */
export function loadDeps(paths: Paths, env: Env, kind: "agents" | "grimoires" | "spells"): LoadDeps {
  const home = homeFolder(env);
  return { indexFile: indexPath(paths.user.cache, paths.root, kind), show: (path) => shownPath(path, { root: paths.root, home }) };
}
