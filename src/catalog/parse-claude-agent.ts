import type { Agent } from "../contract/agent.ts";
import { CLAUDE_AGENT_KEYS, type ClaudeAgentFrontmatter, claudeAgentSchema } from "../contract/claude-agent.ts";
import { isModelAlias, looksLikeModelId, MODEL_ALIASES } from "../contract/model.ts";
import type { Fault } from "../contract/problem.ts";
import { inert } from "../lib/inert.ts";
import { nearest } from "../lib/nearest.ts";
import { type LooseFrontmatter, readLoosely } from "../lib/loose-frontmatter.ts";
import { claudePermissions } from "./claude-permissions.ts";
import type { Parsed } from "./load-definitions.ts";
import { readFrontmatter, type ReadFrontmatter } from "./read-frontmatter.ts";

/** What no reading line by line may rescue: it is an attack or a mistake, not a habit of writing. */
const FATAL = new Set(["file.too_large", "file.nul", "yaml.too_deep", "yaml.too_many_nodes", "yaml.unsafe_key", "frontmatter.unclosed"]);

/** `.claude/agents`: tolerant, because it was written for another program. Only a name and a description are needed. */
export function parseClaudeAgent(text: string): Parsed<Agent> {
  const read = readFrontmatter(text);
  if (read.faults.some((f) => f.code === "frontmatter.missing")) {
    return { faults: [{ ...whole("frontmatter.missing", "no frontmatter, so this is not an agent and is passed over", "move notes elsewhere"), severity: "warning" }] };
  }
  if (read.faults.some((f) => FATAL.has(f.code))) return { faults: read.faults };
  const strict = read.value === undefined ? undefined : claudeAgentSchema.safeParse(read.value);
  if (strict?.success === true) return toAgent(strict.data, read, [], (key) => read.yaml?.locate([key], "key").line ?? 1);
  const loose = readLoosely(read.source, CLAUDE_AGENT_KEYS);
  const rescued = claudeAgentSchema.safeParse(loose.value);
  if (rescued.success) return toAgent(rescued.data, read, [looseFault(read)], (key) => lineOf(loose, key));
  return { name: name(loose.value.name), faults: [...read.faults.map((f): Fault => ({ ...f, severity: "warning" })), ...missing(loose)] };
}

function toAgent(data: ClaudeAgentFrontmatter, read: ReadFrontmatter, faults: Fault[], line: (key: string) => number): Parsed<Agent> {
  const at = (key: string, fault: Pick<Fault, "code" | "message" | "hint">, severity: Fault["severity"] = "warning"): void =>
    void faults.push({ line: line(key), column: 1, field: key, severity, ...fault });
  if (inert(data.name) !== data.name || data.name.includes("\n")) {
    at("name", { code: "name.invalid", message: "the name has control or invisible characters", hint: "remove them" }, "error");
    return { faults };
  }
  for (const key of Object.keys(data)) {
    if ((CLAUDE_AGENT_KEYS as readonly string[]).includes(key)) continue;
    const near = nearest(key, CLAUDE_AGENT_KEYS);
    at(key, { code: "field.unknown", message: `unknown key '${key.slice(0, 60)}' is ignored`, hint: near === undefined ? "" : `did you mean '${near}'?` });
  }
  const { permissions, odd } = claudePermissions(data.tools, data.disallowedTools);
  for (const fault of odd) at(fault.field, fault);
  const model = modelOf(data.model);
  if (model === "odd") {
    at("model", { code: "model.unknown", message: `unknown model '${String(data.model).slice(0, 60)}', so the default is used`, hint: `one of: ${Object.keys(MODEL_ALIASES).join(", ")}, inherit, or a full model id` });
  }
  if (read.empty) faults.push({ ...whole("prompt.empty", "the prompt below the frontmatter is empty", "say what the agent is to do"), line: read.bodyLine, severity: "warning" });
  const agent: Agent = {
    name: data.name, description: data.description, model: model === "odd" ? undefined : model, permissions, enabled: true, enableReflection: false,
    maxRetries: 1, reflectionCriteria: undefined, requiresApproval: [], approvalTimeoutS: undefined,
  };
  return { name: data.name, value: agent, faults };
}

function modelOf(written: string | null | undefined): string | undefined | "odd" {
  const model = written?.trim() ?? "";
  const lower = model.toLowerCase();
  if (model === "" || lower === "default") return undefined;
  if (lower === "inherit" || isModelAlias(lower)) return lower;
  return looksLikeModelId(model) ? model : "odd";
}

function missing(loose: LooseFrontmatter): Fault[] {
  return ["name", "description"].flatMap((field): Fault[] => {
    const value = loose.value[field];
    if (typeof value === "string" && value.trim() !== "") return value.length > 65_536 || (field === "name" && value.length > 256) ? [{ ...whole("field.value", "is too long", "shorten it"), field, line: lineOf(loose, field) }] : [];
    return [{ ...whole("field.missing", "is missing", "an agent needs a name and a description"), field, line: lineOf(loose, field) }];
  });
}

function looseFault(read: ReadFrontmatter): Fault {
  const first = read.faults[0];
  const place = first === undefined ? { line: 2, column: 1 } : { line: first.line, column: first.column };
  return { ...whole("frontmatter.loose", `not valid YAML${first === undefined ? "" : ` (${first.message})`}; read line by line instead`, "quote values that contain ': '"), ...place, severity: "warning" };
}

function lineOf(loose: LooseFrontmatter, key: string): number {
  return loose.lines.get(key) ?? 1;
}

function name(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function whole(code: Fault["code"], message: string, hint: string): Fault {
  return { line: 1, column: 1, field: "", message, hint, severity: "error", code };
}
