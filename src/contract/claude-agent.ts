import { z } from "zod";

/** Frontmatter of `.claude/agents/*.md`, as Claude Code reads it: two required fields, lists as arrays or comma text, unknown keys kept. */
const words = z.union([z.string(), z.array(z.union([z.string(), z.number(), z.boolean()]).transform(String))]).nullish();

export const claudeAgentSchema = z.looseObject({
  name: z.union([z.string(), z.number(), z.boolean()]).transform(String).pipe(z.string().trim().min(1).max(256)),
  description: z.union([z.string(), z.number(), z.boolean()]).transform(String).pipe(z.string().trim().min(1).max(65_536)),
  tools: words,
  disallowedTools: words,
  model: z.union([z.string(), z.number()]).transform(String).nullish(),
});

export type ClaudeAgentFrontmatter = z.infer<typeof claudeAgentSchema>;

export const CLAUDE_AGENT_KEYS = [
  "name", "description", "tools", "disallowedTools", "model", "permissionMode", "maxTurns", "skills", "mcpServers",
  "hooks", "memory", "background", "effort", "isolation", "color", "initialPrompt",
] as const;
