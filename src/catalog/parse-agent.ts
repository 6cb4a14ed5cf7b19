import { type Agent, type AgentFrontmatter, agentSchema } from "../contract/agent.ts";
import { isModelAlias, looksLikeModelId, MODEL_ALIASES } from "../contract/model.ts";
import { nameFault } from "../contract/name.ts";
import { BASELINE, isPermission, PERMISSIONS } from "../contract/permission.ts";
import type { Fault } from "../contract/problem.ts";
import { TOOL_NAMES } from "../contract/tool-names.ts";
import { didYouMean, didYouMeanOr } from "../lib/nearest.ts";
import { schemaFaults } from "../lib/schema-faults.ts";
import type { Yaml } from "../lib/yaml.ts";
import type { Parsed } from "./load-definitions.ts";
import { parseClaudeAgent } from "./parse-claude-agent.ts";
import { readFrontmatter } from "./read-frontmatter.ts";

/** One agent file to an agent, with everything that is wrong with it. */
export function parseAgent(text: string, dialect: string): Parsed<Agent> {
  return dialect === "claude" ? parseClaudeAgent(text) : parseCrucibleAgent(text);
}

/** `.crucible/agents`: strict, because what is written there is meant for us. */
function parseCrucibleAgent(text: string): Parsed<Agent> {
  const read = readFrontmatter(text);
  const faults = [...read.faults];
  const { value, yaml } = read;
  const name = value !== undefined && typeof value.name === "string" ? value.name : undefined;
  const parsed = value === undefined ? undefined : agentSchema.safeParse(value);
  if (value !== undefined && yaml !== undefined) faults.push(...fieldFaults(value, yaml, parsed?.success === true));
  // A body that is empty because the frontmatter has no end is told once.
  if (read.closed && read.empty) faults.push(emptyPrompt(read.bodyLine));
  return parsed?.success === true && faults.every((f) => f.severity === "warning") ? { name: parsed.data.name, value: toAgent(parsed.data), faults } : { name, faults: inOrder(faults) };
}

export function emptyPrompt(line: number): Fault {
  return { line, column: 1, field: "", message: "the prompt below the frontmatter is empty", hint: "say what the agent is to do", severity: "error", code: "prompt.empty" };
}

function toAgent(data: AgentFrontmatter): Agent {
  return {
    name: data.name,
    description: data.description,
    model: data.model,
    permissions: PERMISSIONS.filter((p) => data.permissions.includes(p)),
    enabled: data.enabled,
    enableReflection: data.enable_reflection,
    maxRetries: data.max_retries,
    reflectionCriteria: data.reflection_criteria,
    requiresApproval: data.requires_approval,
    approvalTimeoutS: data.approval_timeout,
  };
}

function fieldFaults(value: Record<string, unknown>, yaml: Yaml, valid: boolean): Fault[] {
  const bySchema = valid ? [] : schemaFaults(agentSchema, value).map(({ path, at, code, message, hint }): Fault => {
    const fields = path.filter((part): part is string | number => typeof part !== "symbol");
    const field = fields.filter((part) => typeof part === "string").join(".");
    const own = field === "name" && code === "field.value" ? nameWords(String(value.name)) : { code, message, hint: hint === "" || code === "field.missing" ? (FIELD_HINTS[field] ?? hint) : hint };
    return { ...yaml.locate(fields, at), field, severity: "error", ...own };
  });
  const unknown = approvalFaults(value.requires_approval, yaml);
  return [...bySchema, ...modelFaults(value.model, yaml), ...unknown, ...(unknown.length === 0 ? uselessApprovals(value, yaml) : []), ...repeated(value, yaml)];
}

const FIELD_HINTS: Record<string, string> = {
  name: "write a name such as code-reviewer",
  description: "say in at most 4096 characters when to use this agent",
  model: "write haiku, sonnet, opus or a full model id",
  permissions: "write a list such as [FilesystemRead, Shell]; [] for none",
  enabled: "write true or false",
  enable_reflection: "write true or false",
  max_retries: "write a whole number from 0 to 10",
  reflection_criteria: "write text",
  requires_approval: "write a list such as [Shell, write_file]",
  approval_timeout: "write seconds, up to 86400",
};

function nameWords(name: string): Pick<Fault, "code" | "message" | "hint"> {
  const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
  if (nameFault(name) === "reserved") return { code: "name.reserved", message: `the name '${shown}' is reserved`, hint: `did you mean '${shown}-agent'?` };
  const slug = name.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64);
  const rule = "lower-case letters, digits, dot, dash and underscore; at most 64";
  return { code: "name.invalid", message: `'${shown}' is not a valid name`, hint: slug !== "" && nameFault(slug) === undefined ? `did you mean '${slug}'? ${rule}` : rule };
}

function modelFaults(model: unknown, yaml: Yaml): Fault[] {
  if (typeof model !== "string" || model === "" || isModelAlias(model) || looksLikeModelId(model)) return [];
  return [{ ...yaml.locate(["model"], "value"), field: "model", message: `unknown model '${model.slice(0, 60)}'`, hint: didYouMeanOr(model, Object.keys(MODEL_ALIASES), "a full model id"), severity: "error", code: "model.unknown" }];
}

function approvalFaults(words: unknown, yaml: Yaml): Fault[] {
  if (!Array.isArray(words)) return [];
  return words.flatMap((word: unknown, index): Fault[] => {
    if (typeof word !== "string" || word === "" || isPermission(word) || isToolName(word)) return [];
    return [{
      ...yaml.locate(["requires_approval", index], "value"), field: "requires_approval", message: `unknown permission or tool '${word.slice(0, 60)}'`,
      hint: didYouMean(word, [...PERMISSIONS, ...TOOL_NAMES]), severity: "error", code: "tool.unknown",
    }];
  });
}

/** A right that the agent never has needs no approval: most likely it was meant to be among its permissions. */
function uselessApprovals({ requires_approval: words, permissions }: Record<string, unknown>, yaml: Yaml): Fault[] {
  if (!Array.isArray(words) || !Array.isArray(permissions)) return [];
  const has = [...permissions, ...BASELINE] as unknown[];
  return words.flatMap((word: unknown, index): Fault[] =>
    typeof word !== "string" || !isPermission(word) || has.includes(word)
      ? []
      : [{ ...yaml.locate(["requires_approval", index], "value"), field: "requires_approval", message: `this agent never has ${word}, so nothing will ask`, hint: `add ${word} to permissions, or remove it here`, severity: "warning", code: "field.value" }],
  );
}

function isToolName(word: string): boolean {
  return (TOOL_NAMES as readonly string[]).includes(word) || /^mcp__[A-Za-z0-9_-]+$/.test(word);
}

function repeated(value: Record<string, unknown>, yaml: Yaml): Fault[] {
  return ["permissions", "requires_approval"].flatMap((field) => {
    const words = value[field];
    if (!Array.isArray(words)) return [];
    return words.flatMap((word: unknown, index): Fault[] =>
      words.indexOf(word) === index ? [] : [{ ...yaml.locate([field, index], "value"), field, message: `'${String(word).slice(0, 60)}' is listed twice`, hint: "remove one", severity: "warning", code: "field.duplicate" }],
    );
  });
}

function inOrder(faults: readonly Fault[]): Fault[] {
  return [...faults].sort((a, b) => a.line - b.line || a.column - b.column);
}
