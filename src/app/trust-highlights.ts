import { entriesOf, isMapping } from "../config/layer.ts";
import { splitFrontmatter } from "../lib/frontmatter.ts";
import { inline } from "../lib/yaml-edit.ts";
import { readYaml } from "../lib/yaml.ts";

/** What of a project's file a person must know before trusting it: rights, programs, settings. Foreign text: whoever shows it makes it inert. */
export function trustHighlights(path: string, content: Uint8Array): string[] {
  const text = new TextDecoder("utf-8").decode(content);
  if (path === ".mcp.json") return mcpServers(text);
  if (path === ".crucible/config.yaml") return settings(text);
  if (path.startsWith(".crucible/agents/")) return agent(text, "permissions");
  if (path.startsWith(".claude/agents/")) return agent(text, "tools");
  if (path.startsWith(".coven/grimoires/")) return grimoire(text);
  return [`text that agents are given, ${lineCount(text)}`];
}

function agent(text: string, rights: "permissions" | "tools"): string[] {
  const { yaml, body } = splitFrontmatter(text);
  const value = yaml === undefined ? undefined : readYaml(yaml).value;
  // A loader may read what is not quite YAML; a person sees all of it then.
  if (!isMapping(value)) return ["an agent whose frontmatter is not clean YAML:", ...(yaml ?? text).split("\n").slice(0, 30)];
  const given = value[rights];
  const none = rights === "tools" ? "every right of whoever starts it" : "none";
  const listed = given === undefined || given === null ? none : words(given);
  const extra = ["model", "requires_approval"].filter((key) => value[key] !== undefined).map((key) => `${key} ${words(value[key])}`);
  return [`agent ${words(value.name)}: ${rights} ${listed === "" ? "none" : listed}${extra.map((e) => `; ${e}`).join("")}; prompt of ${lineCount(body)}${typeof value.name === "string" ? `, read it with \`cru agents show ${value.name}\`` : ""}`];
}

function settings(text: string): string[] {
  const { value } = readYaml(text);
  if (value === null) return ["sets nothing"];
  return isMapping(value) ? [...entriesOf(value)].map(([key, inner]) => `${key.join(".")}: ${inline(inner)}`) : ["cannot be read as settings"];
}

function mcpServers(text: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return ["cannot be read as JSON"];
  }
  const servers = isMapping(value) && isMapping(value.mcpServers) ? value.mcpServers : {};
  return Object.entries(servers).map(([name, server]) => {
    if (!isMapping(server)) return `MCP server ${name}`;
    const env = isMapping(server.env) && Object.keys(server.env).length > 0 ? `, with ${Object.keys(server.env).join(", ")} in its environment` : "";
    if (server.command === undefined) return `MCP server ${name} at ${words(server.url)}${env}`;
    return `MCP server ${name} runs: ${[server.command, ...(Array.isArray(server.args) ? server.args : [])].map((part) => words(part)).join(" ")}${env}`;
  });
}

function grimoire(text: string): string[] {
  const { value } = readYaml(text);
  if (!isMapping(value)) return ["cannot be read as a grimoire"];
  return [`grimoire ${words(value.name)}`, ...steps(value.steps)];
}

function steps(value: unknown): string[] {
  return (Array.isArray(value) ? value : []).flatMap((step: unknown) => {
    if (!isMapping(step)) return [];
    const here = step.command !== undefined ? [`runs: ${words(step.command)}${step.network === true ? "  (with network)" : ""}`] : step.type === "merge" ? ["merges"] : [];
    return [...here, ...steps(step.steps)];
  });
}

function words(value: unknown): string {
  if (Array.isArray(value)) return value.map(words).join(", ");
  return typeof value === "string" ? value : inline(value ?? null);
}

function lineCount(text: string): string {
  const count = text.trim() === "" ? 0 : text.trimEnd().split("\n").length;
  return `${count} ${count === 1 ? "line" : "lines"}`;
}
