import { findAgent, loadAgents } from "../../catalog/agents.ts";
import { readBody } from "../../catalog/read-body.ts";
import { type Env, homeFolder, type Paths } from "../../config/paths.ts";
import { DEFAULT_SETTINGS } from "../../contract/settings-defaults.ts";
import { shownPath } from "../../lib/shown-path.ts";
import { openTrust } from "../../trust/open-trust.ts";
import type { Conditions } from "../chat/conditions.ts";
import { type Primary, PRIMARY_NAME, type Project } from "../chat/open-chat.ts";
import primaryPrompt from "../primary.md";

/** The project as it is today, under the settings of then. Nothing runs, so what was usable then is read again whoever trusts it now. */
export async function openReplay(conditions: Conditions, paths: Paths, env: Env): Promise<{ project: Project; primary: Primary }> {
  const trust = openTrust(paths, env, {});
  const known = new Set(conditions.agents.map((agent) => agent.path));
  const agents = await loadAgents(paths, {
    indexFile: undefined,
    show: (path) => shownPath(path, { root: paths.root, home: homeFolder(env) }),
    accept: (path, hash) => known.has(path) || trust.isTrusted(path, hash),
  });
  const { model, permissions, loop, queue, limits } = conditions.settings;
  const project: Project = {
    paths,
    settings: { ...DEFAULT_SETTINGS, model, permissions, loop, queue, limits },
    agents: agents.items.filter((entry) => entry.value.enabled),
    listed: agents.listed,
    find: (name) => findAgent(agents, name),
    readPrompt: readBody,
    warnings: [],
  };
  const named = conditions.agent === PRIMARY_NAME ? undefined : findAgent(agents, conditions.agent);
  return {
    project,
    primary: {
      name: conditions.agent,
      hash: named?.hash ?? "builtin",
      prompt: named === undefined ? primaryPrompt.trim() : project.readPrompt(named),
      model: conditions.model,
      modelSource: "default",
      permissions: conditions.permissions,
      requiresApproval: named?.value.requiresApproval ?? [],
      approvalTimeoutS: named?.value.approvalTimeoutS,
    },
  };
}
