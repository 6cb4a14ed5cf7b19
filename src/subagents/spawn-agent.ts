import { z } from "zod";
import { permissionSchema } from "../contract/agent.ts";
import { CruError } from "../contract/error.ts";
import type { PlanTask } from "../contract/event.ts";
import type { Tool, ToolResult } from "../contract/tool.ts";
import prose from "./spawn-agent.md";
import { type Parent, spawn, type SpawnDeps, type SpawnRequest } from "./spawn.ts";

const inputSchema = z.object({
  agent: z.string().min(1).describe("Name of the agent"),
  task: z.string().min(1).describe("Everything the agent has to know: it sees nothing of this conversation"),
  permissions: z.array(permissionSchema).optional().describe("Give it less than its definition asks for"),
  model: z.string().min(1).optional().describe("haiku, sonnet, opus or a full model id"),
});

/** `spawn_agent`: one subagent, its result as markdown. A refusal is an error that the model can handle. */
export function spawnAgentTool(parent: Parent, spawnable: readonly { name: string; description: string }[], deps: SpawnDeps): Tool<z.infer<typeof inputSchema>> {
  const list = spawnable.map((a) => `- ${a.name}: ${a.description.replace(/\s+/g, " ").slice(0, 300)}`).join("\n");
  return {
    name: "spawn_agent",
    description: `${prose.trim()}\n\nAgents:\n${list}`,
    input: inputSchema,
    needs: [],
    changes: false,
    reentrant: true,
    run: (input, context) => spawnAsTool(parent, { ...input, key: context.callId }, deps),
  };
}

/** A task of the plan that names an agent takes the same path. */
export function startTask(parent: Parent, deps: SpawnDeps): (task: PlanTask, key: string) => Promise<ToolResult> {
  return (task, key) => spawnAsTool(parent, { agent: task.agent ?? "", task: task.description, key }, deps);
}

async function spawnAsTool(parent: Parent, request: SpawnRequest, deps: SpawnDeps): Promise<ToolResult> {
  try {
    const spawned = await spawn(parent, request, deps);
    if (spawned.kind === "suspended") return { ok: false, output: "", suspended: spawned.inboxId };
    return { ok: spawned.result.ok, output: spawned.result.markdown };
  } catch (error) {
    if (!(error instanceof CruError)) throw error;
    return { ok: false, output: error.hint === undefined ? error.message : `${error.message} (${error.hint})` };
  }
}
