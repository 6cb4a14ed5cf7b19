import { readBody } from "../../catalog/read-body.ts";
import { findAgent, loadAgents } from "../../catalog/agents.ts";
import { requireSettings } from "../../config/load-settings.ts";
import type { Env, Paths } from "../../config/paths.ts";
import type { Agent } from "../../contract/agent.ts";
import type { Entry } from "../../contract/catalog.ts";
import { CruError } from "../../contract/error.ts";
import { type ModelSource, resolveModel } from "../../contract/model.ts";
import { BASELINE, MAX_AGENT_DEPTH, type Permission } from "../../contract/permission.ts";
import type { SettingsFile } from "../../contract/settings.ts";
import type { Settings } from "../../contract/settings-defaults.ts";
import { requireModel, requireProvider } from "../../llm/provider.ts";
import { effectiveRights, PRIMARY_RIGHTS } from "../../permission/effective.ts";
import { readMarker } from "../../sandbox/marker.ts";
import { depthExceeded } from "../../subagents/spawn.ts";
import { requireTrusted } from "../../trust/open-trust.ts";
import { loadDeps } from "../agent-catalog.ts";
import { openSettings } from "../open-settings.ts";
import primaryPrompt from "../primary.md";

export type ChatInput = {
  cwd: string;
  env: Env;
  trust: boolean;
  agent: string | undefined;
  model: string | undefined;
  allow: readonly Permission[];
  deny: readonly Permission[];
  maxIterations: number | undefined;
  budgetUsd: number | undefined;
};

export type Project = {
  paths: Paths;
  settings: Settings;
  /** Agents that may run here: enabled and trusted. */
  agents: Entry<Agent>[];
  /** All that a list shows, whoever trusts them. */
  listed: Entry<Agent>[];
  find(name: string): Entry<Agent>;
  readPrompt(entry: Entry<Agent>): string;
  warnings: string[];
};

/** The agent that talks with the user, settled. */
export type Primary = {
  name: string;
  hash: string;
  prompt: string;
  model: string;
  modelSource: ModelSource;
  permissions: readonly Permission[];
  requiresApproval: readonly string[];
  approvalTimeoutS: number | undefined;
};

export const PRIMARY_NAME = "primary";

/** Settings and agents of this folder; what nobody trusted is left out, with one warning. */
export async function openProject(input: ChatInput): Promise<Project> {
  refuseInsideAgent(input.env);
  const denied = input.deny.find((right) => (BASELINE as readonly string[]).includes(right));
  if (denied !== undefined) throw new CruError("usage", `${denied} cannot be denied: every agent has it`, { hint: `what can be denied: ${PRIMARY_RIGHTS.filter((r) => !(BASELINE as readonly string[]).includes(r)).join(", ")}` });
  const opened = openSettings({ cwd: input.cwd, env: input.env, trust: input.trust, flags: flagsOf(input) });
  const settings = requireSettings(opened);
  const { paths, trust } = opened;
  const deps = loadDeps(paths, input.env, "agents");
  const usable = await loadAgents(paths, { ...deps, accept: trust.isTrusted });
  const agents = usable.items.filter((e) => e.value.enabled);
  const unused = usable.listed.filter((e) => !trust.isTrusted(e.path, e.hash)).length;
  const ignored = [...(unused > 0 ? [`${unused} of this project's agents`] : []), ...(opened.projectIgnored ? ["its settings"] : [])];
  return {
    paths,
    settings,
    agents,
    listed: usable.listed,
    find: (name) => findAgent(usable, name),
    readPrompt: readBody,
    warnings: [...standIn(input.agent, agents, usable.listed), ...(ignored.length === 0 ? [] : [`not trusted, so not used: ${ignored.join(" and ")} (\`cru trust\` shows them)`])],
  };
}

/** Who asks for an agent by its name hears when it is another than the project's. */
function standIn(name: string | undefined, usable: readonly Entry<Agent>[], listed: readonly Entry<Agent>[]): string[] {
  const [used, wanted] = [usable, listed].map((entries) => entries.find((e) => e.name === name));
  if (used === undefined || wanted === undefined || used.path === wanted.path) return [];
  return [`this project's agent '${used.name}' is not trusted, so ${used.source === "builtin" ? "the built-in one" : `yours (${used.path})`} is used`];
}

/** Model, then provider, then trust: the first of them that is wrong is what the user hears about. An agent program brings its own provider. */
export function choosePrimary(input: ChatInput, project: Project, needs: { provider: boolean } = { provider: true }): Primary {
  const named = input.agent === undefined || input.agent === PRIMARY_NAME ? undefined : findNamed(input.agent, project);
  const wanted = input.model ?? named?.value.model;
  const modelSource: ModelSource = input.model !== undefined ? "override" : wanted === undefined ? "default" : "definition";
  const model = resolveModel(requireModel(wanted === undefined || wanted === "inherit" ? project.settings.model : wanted));
  if (needs.provider) requireProvider(model, input.env);
  if (named !== undefined) requireUsable(named, project);
  const rights = effectiveRights({ parent: PRIMARY_RIGHTS, definition: named?.value.permissions ?? "inherit", policy: { deny: project.settings.permissions.deny } });
  if (rights.status === "refused") throw new CruError("permission_refused", rights.message);
  return {
    name: named?.name ?? PRIMARY_NAME,
    hash: named?.hash ?? "builtin",
    prompt: named === undefined ? primaryPrompt.trim() : project.readPrompt(named),
    model,
    modelSource,
    permissions: rights.granted,
    requiresApproval: named?.value.requiresApproval ?? [],
    approvalTimeoutS: named?.value.approvalTimeoutS,
  };
}

/** The one that may be used; where there is none, an untrusted one is named so that the answer is a refusal and what to do about it. */
export function findNamed(name: string, project: Project): Entry<Agent> {
  return project.agents.find((e) => e.name === name) ?? findAgent({ items: project.listed }, name);
}

/** A command of an agent is no way around the limits of its tree. */
export function refuseInsideAgent(env: Env): void {
  const marker = readMarker(env);
  if (marker === undefined) return;
  if (marker.depth + 1 >= MAX_AGENT_DEPTH) throw depthExceeded();
  throw new CruError("depth_exceeded", `this command was started by the agent '${marker.agent}', and an agent starts others with spawn_agent`, { hint: "call the spawn_agent tool" });
}

function requireUsable(entry: Entry<Agent>, project: Project): void {
  const usable = project.agents.some((e) => e.path === entry.path && e.hash === entry.hash);
  requireTrusted({ isTrusted: () => usable }, { path: entry.path, hash: entry.hash, what: `the agent '${entry.name}'` });
}

function flagsOf(input: ChatInput): SettingsFile {
  return {
    ...(input.maxIterations === undefined ? {} : { loop: { max_iterations: input.maxIterations } }),
    ...(input.budgetUsd === undefined ? {} : { limits: { budget_usd: input.budgetUsd } }),
    ...(input.allow.length === 0 && input.deny.length === 0 ? {} : { permissions: { ...(input.allow.length === 0 ? {} : { allow: [...input.allow] }), ...(input.deny.length === 0 ? {} : { deny: [...input.deny] }) } }),
  };
}
