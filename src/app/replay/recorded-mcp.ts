import { z } from "zod";
import type { RecordedRequest } from "../../agent/memory.ts";
import type { ToolSpec } from "../../contract/model-call.ts";
import type { AnyTool } from "../../contract/tool.ts";
import type { McpTools } from "../../tools/mcp/connect-mcp-servers.ts";
import type { RecordedTurn } from "./turns.ts";

/** No server is started for a replay: its tools are those that the recording offered to the model. */
export function recordedMcp(turn: RecordedTurn): McpTools {
  const offered = turn.events.flatMap((e) => (e.type === "model.request" ? ((e.request as RecordedRequest).tools as ToolSpec[] | undefined) ?? [] : []));
  const tools = turn.conditions.mcp.flatMap((known): AnyTool[] => {
    const spec = offered.find((one) => one.name === known.name);
    if (spec === undefined) return [];
    const { name, changes, needs, asks } = known;
    return [{ name, description: spec.description, input: z.unknown(), inputJson: spec.inputSchema, needs, changes, ...(asks === null ? {} : { asks }), run: async () => ({ ok: false, output: "" }) }];
  });
  return { tools, toolsFor: () => tools, warnings: [], close: async () => {} };
}
