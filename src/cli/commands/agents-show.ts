import { type AgentCatalog, defaultModel, lookUp, openAgentCatalog } from "../../app/agent-catalog.ts";
import { agentNotFound } from "../../catalog/agents.ts";
import { frontmatterOf } from "../../catalog/frontmatter-of.ts";
import { readBody } from "../../catalog/read-body.ts";
import type { Agent } from "../../contract/agent.ts";
import type { Entry } from "../../contract/catalog.ts";
import { inert, inertLine } from "../../lib/inert.ts";
import type { Run } from "../command.ts";
import { printJson } from "../print.ts";

export const run: Run = async ({ args, io, options, cwd, env }) => {
  const [name = ""] = args;
  const catalog = await openAgentCatalog({ cwd, env, trust: options.trust === true });
  const { entry, unused } = lookUp(catalog, name);
  if (entry === undefined) throw notShown(name, catalog);
  const fallback = await defaultModel(catalog, env);
  if (options.json === true) {
    printJson(io, { agent: asJson(entry, catalog, fallback), ...(unused === undefined ? {} : { untrusted: asJson(unused, catalog, fallback) }) });
    return 0;
  }
  io.out(asText(entry, catalog, fallback));
  if (unused !== undefined) io.out(`\n--- not used, because it is not trusted (\`cru trust\`): ${inertLine(catalog.show(unused.path))}\n\n${asText(unused, catalog, fallback)}`);
  return 0;
};

function asJson(entry: Entry<Agent>, catalog: AgentCatalog, fallback: string): unknown {
  return { ...detailsOf(entry, catalog, entry.value.model ?? fallback), path: entry.path, frontmatter: frontmatterOf(entry), prompt: readBody(entry) };
}

function asText(entry: Entry<Agent>, catalog: AgentCatalog, fallback: string): string {
  const details = detailsOf(entry, catalog, entry.value.model ?? fallback);
  const more = Object.entries(frontmatterOf(entry)).filter(([key]) => !Object.hasOwn(details, key));
  return `${[...Object.entries(details), ...more].map(([key, value]) => fieldText(key, value)).join("")}\n${inert(readBody(entry))}\n`;
}

function detailsOf(entry: Entry<Agent>, { trust, show }: AgentCatalog, model: string) {
  const agent = entry.value;
  return {
    name: agent.name,
    description: agent.description,
    model,
    model_source: agent.model === undefined ? "default" : "definition",
    permissions: agent.permissions,
    enabled: agent.enabled,
    enable_reflection: agent.enableReflection,
    max_retries: agent.maxRetries,
    reflection_criteria: agent.reflectionCriteria ?? null,
    requires_approval: agent.requiresApproval,
    approval_timeout: agent.approvalTimeoutS ?? null,
    source: entry.source,
    path: show(entry.path),
    hash: entry.hash,
    trusted: trust.isTrusted(entry.path, entry.hash),
  };
}

function fieldText(key: string, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") {
    const text = inert(value).trimEnd();
    return text.includes("\n") ? `${inertLine(key)}: |\n${text.split("\n").map((line) => `  ${line}`).join("\n")}\n` : `${inertLine(key)}: ${text}\n`;
  }
  const isWords = Array.isArray(value) && value.every((word) => typeof word === "string");
  return `${inertLine(key)}: ${inertLine(isWords ? (value.length === 0 ? "none" : value.join(", ")) : JSON.stringify(value))}\n`;
}

function notShown(name: string, { agents }: AgentCatalog): Error {
  const broken = agents.files.find((file) => (file.name === name || file.stem === name) && file.problems.some((p) => p.severity === "error"));
  return agentNotFound(name, agents.listed.map((e) => e.name), broken === undefined ? undefined : `its file has problems: \`cru agents validate ${name}\``);
}
