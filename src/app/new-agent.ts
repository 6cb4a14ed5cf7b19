import { lstatSync, mkdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseAgent } from "../catalog/parse-agent.ts";
import type { Env, Paths } from "../config/paths.ts";
import type { AgentSource } from "../contract/agent.ts";
import { CruError } from "../contract/error.ts";
import { isModelAlias, looksLikeModelId, MODEL_ALIASES } from "../contract/model.ts";
import { nameFault } from "../contract/name.ts";
import { BASELINE, type Permission } from "../contract/permission.ts";
import { createFile, createFolder } from "../lib/create-file.ts";
import { didYouMeanOr } from "../lib/nearest.ts";
import { trustFiles } from "../trust/trust-files.ts";
import { openAgentCatalog } from "./agent-catalog.ts";
import { agentScaffold } from "./agent-scaffold.ts";
import { asUsersMistake, refuseUnfitRoot, schemaFolder, writeSchema } from "./init.ts";

export type NewAgentInput = {
  cwd: string;
  env: Env;
  name: string;
  description?: string | undefined;
  model?: string | undefined;
  permissions?: readonly Permission[] | undefined;
  /** For every project of this user instead of this project. */
  system: boolean;
};

export type NewAgent = { name: string; path: string; shown: string; source: "system" | "project"; /** Who had the name so far. */ replaces: AgentSource | null; /** Who still has it here. */ hiddenBy: AgentSource | null };

/** Writes an agent to start from, and trusts it. Every name is judged before it becomes a path. */
export async function newAgent(input: NewAgentInput): Promise<NewAgent> {
  requireName(input.name);
  requireModel(input.model);
  const { paths, agents, show } = await openAgentCatalog(input);
  const source = input.system ? "system" : "project";
  const folder = input.system ? paths.user.agents : paths.project.agents;
  const path = join(folder, `${input.name}.md`);
  if (!input.system) refuseUnfitRoot(paths.root, input.env);
  const twin = agents.files.find((file) => file.source === source && (file.name === input.name || file.stem === input.name));
  if (twin !== undefined) throw taken(input.name, show(twin.path));

  const schemas = input.system ? join(dirname(folder), "schemas") : schemaFolder(paths);
  const text = agentScaffold({ ...input, description: input.description, model: input.model, permissions: input.permissions ?? BASELINE, schema: join(relative(folder, schemas), "agent.schema.json") });
  requireValid(text);
  try {
    makeFolder(folder, paths, input.system);
    writeSchema(input.system ? dirname(folder) : paths.root, schemas, "agent");
    if (!createFile(path, text)) throw taken(input.name, show(path));
  } catch (error) {
    throw asUsersMistake(error, input.system ? dirname(folder) : paths.root);
  }
  if (!input.system) await trustFiles(paths, [{ path, content: text }]);
  const before = agents.listed.find((entry) => entry.name === input.name)?.source ?? null;
  const hidden = source === "system" && before === "project";
  return { name: input.name, path, shown: show(path), source, replaces: hidden ? null : before, hiddenBy: hidden ? before : null };
}

/** A user's own folder may be a link (people keep their settings in a repository); a project's may not. */
function makeFolder(folder: string, paths: Paths, system: boolean): void {
  if (!system) createFolder(paths.root, folder);
  else if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) mkdirSync(folder, { recursive: true });
}

function requireName(name: string): void {
  const fault = nameFault(name);
  if (fault === undefined) return;
  throw new CruError("usage", fault === "reserved" ? `'${name}' is a reserved name` : `'${name}' is not a valid name for an agent`, {
    hint: fault === "reserved" ? "choose another name" : "use lower-case letters, digits, dot, dash and underscore; at most 64, the first a letter or digit",
  });
}

function requireModel(model: string | undefined): void {
  if (model === undefined || isModelAlias(model) || looksLikeModelId(model)) return;
  throw new CruError("model_unknown", `unknown model '${model}'`, { hint: didYouMeanOr(model, Object.keys(MODEL_ALIASES), "a full model id") });
}

/** The scaffold is ours, so what can still be wrong is what the user gave. */
function requireValid(text: string): void {
  const fault = parseAgent(text, "crucible").faults[0];
  if (fault !== undefined) throw new CruError("usage", `${fault.field === "" ? "" : `${fault.field}: `}${fault.message}`, fault.hint === "" ? {} : { hint: fault.hint });
}

function taken(name: string, path: string): CruError {
  return new CruError("usage", `there is already an agent '${name}': ${path}`, { hint: "edit that file, or choose another name" });
}
