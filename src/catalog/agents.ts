import type { Agent } from "../contract/agent.ts";
import type { Catalog, Entry } from "../contract/catalog.ts";
import { CruError } from "../contract/error.ts";
import type { Paths } from "../config/paths.ts";
import { BUILD } from "../lib/build.ts";
import { nearest } from "../lib/nearest.ts";
import { type LoadDeps, type Loaded, loadDefinitions } from "./load-definitions.ts";

/** Every agent that can be found from here, broken files reported. */
export function loadAgents(paths: Paths, deps: LoadDeps): Promise<Loaded<Agent>> {
  return loadDefinitions(
    {
      kind: "agents",
      extensions: [".md"],
      sources: [
        { folder: paths.builtin.agents, source: "builtin", dialect: "crucible" },
        { folder: paths.user.claudeAgents, source: "claude", dialect: "claude", recursive: true },
        { folder: paths.project.claudeAgents, source: "claude", dialect: "claude", recursive: true, within: paths.root },
        { folder: paths.user.agents, source: "system", dialect: "crucible" },
        { folder: paths.project.agents, source: "project", dialect: "crucible", within: paths.root },
      ],
      parser: async () => (await import("./parse-agent.ts")).parseAgent,
      fingerprint: BUILD,
    },
    deps,
  );
}

/** For whoever wants to use an agent: a disabled one does not exist. `check` may refuse it, e.g. because it is not trusted. */
export function findAgent(catalog: Pick<Catalog<Agent>, "items">, name: string, check?: (entry: Entry<Agent>) => void): Entry<Agent> {
  const entry = catalog.items.find((e) => e.name === name);
  if (entry === undefined || !entry.value.enabled) throw agentNotFound(name, catalog.items.filter((e) => e.value.enabled).map((e) => e.name));
  check?.(entry);
  return entry;
}

export function agentNotFound(name: string, names: readonly string[], hint?: string): CruError {
  const near = nearest(name, names.filter((n) => n !== name));
  return new CruError("agent_not_found", `agent not found: ${name}`, { hint: hint ?? (near === undefined ? "`cru agents list` shows those that can be used" : `did you mean '${near}'?`) });
}
