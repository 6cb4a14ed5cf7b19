import { z } from "zod";
import type { Agent } from "../contract/agent.ts";
import type { Entry } from "../contract/catalog.ts";
import { CruError } from "../contract/error.ts";
import type { Tool } from "../contract/tool.ts";
import prose from "./get-agent.md";

const inputSchema = z.object({ name: z.string().min(1).max(256) });

export type GetAgentDeps = { findAgent(name: string): Entry<Agent>; readPrompt(entry: Entry<Agent>): string };

export function getAgentTool(deps: GetAgentDeps): Tool<z.infer<typeof inputSchema>> {
  return {
    name: "get_agent",
    description: prose.trim(),
    input: inputSchema,
    needs: [],
    changes: false,
    async run({ name }) {
      try {
        const entry = deps.findAgent(name);
        const { value, source, hash } = entry;
        const facts = {
          name: value.name, description: value.description, model: value.model ?? null, permissions: value.permissions, source, hash,
          enable_reflection: value.enableReflection, requires_approval: value.requiresApproval,
        };
        return { ok: true, output: `${JSON.stringify(facts, null, 2)}\n\n${deps.readPrompt(entry)}` };
      } catch (error) {
        if (error instanceof CruError) return { ok: false, output: error.message };
        throw error;
      }
    },
  };
}
